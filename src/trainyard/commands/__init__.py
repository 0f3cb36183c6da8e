"""The commands: a module each, named as the command, in folders by family."""
