"""The sandbox's account: the content of `fixture.yaml`, and the code that loads it."""
