"""Cases of objects without await logic: names, content, owners, other managers."""

from __future__ import annotations

from tools.conformance.kubernetes.inputs import (
    AWS_AUTH,
    CONFIG_MAP,
    CONFIG_MAP_PATCH,
    CONFIG_MAPS,
    DAEMON_SET,
    FORCE,
    PLUGIN,
    SETTINGS,
    changed,
    in_system,
    labelled,
    wanted,
)
from tools.conformance.kubernetes.world import World


def an_object_that_exists(world: World) -> None:
    """Create never adopts an object, with or without `patchForce`; the preview hides that."""
    theirs = {"metadata": {"name": "settings"}, "data": {"a": "theirs"}}
    world.make(CONFIG_MAPS, theirs)
    stack = world.stack()
    forced = changed(SETTINGS, "metadata.annotations", FORCE)
    for inputs in (SETTINGS, forced):
        for preview in (True, False):
            stack.up(CONFIG_MAP, inputs, preview=preview)
    world.exists(f"{CONFIG_MAPS}/settings")
    upserting = world.stack(upsertExistingObjects="true")
    upserting.up(CONFIG_MAP, SETTINGS)
    upserting.up(CONFIG_MAP, forced)
    upserting.destroy(CONFIG_MAP)
    world.exists(f"{CONFIG_MAPS}/settings")


def a_config_map_with_other_data(world: World) -> None:
    """Changed data replaces it, `immutable` or not, unless the provider is configured otherwise."""
    stack = world.stack()
    other = changed(SETTINGS, "data", {"a": "2"})
    for immutable in (None, False, True):
        before, after = (
            each if immutable is None else {**each, "immutable": immutable}
            for each in (SETTINGS, other)
        )
        stack.up(CONFIG_MAP, before)
        for preview in (True, False):
            stack.up(CONFIG_MAP, after, preview=preview)
        stack.destroy(CONFIG_MAP)
    mutable = world.stack(enableConfigMapMutable="true")
    mutable.up(CONFIG_MAP, SETTINGS)
    mutable.up(CONFIG_MAP, other)
    mutable.up(CONFIG_MAP, {**other, "immutable": True})
    mutable.up(CONFIG_MAP, {**SETTINGS, "immutable": True})
    mutable.destroy(CONFIG_MAP)


def a_name_of_its_own(world: World) -> None:
    """A name is generated once; a replacement gets a new one before the old object is deleted."""
    stack = world.stack()
    unnamed = wanted(CONFIG_MAP, {"namespace": "default"}, data={"a": "1"})
    stack.up(CONFIG_MAP, unnamed)
    stack.up(CONFIG_MAP, unnamed)
    stack.up(CONFIG_MAP, labelled(unnamed))
    stack.up(CONFIG_MAP, changed(unnamed, "data.a", "2"))
    stack.up(CONFIG_MAP, wanted(CONFIG_MAP, {}, data={"a": "2"}))
    stack.destroy(CONFIG_MAP)


def another_name_or_namespace(world: World) -> None:
    """Another name or namespace is another object."""
    stack = world.stack()
    stack.up(CONFIG_MAP, SETTINGS)
    stack.up(CONFIG_MAP, changed(SETTINGS, "metadata.name", "other"))
    stack.up(CONFIG_MAP, changed(SETTINGS, "metadata.namespace", "default"))
    stack.destroy(CONFIG_MAP)


def aws_auth_without_data(world: World) -> None:
    """EKN-09: the package owns the existence of `aws-auth`, but no key of its content."""
    path = f"{CONFIG_MAPS}/aws-auth"
    stack = world.stack()
    stack.up(CONFIG_MAP, AWS_AUTH)
    world.apply(
        path,
        {"apiVersion": "v1", "kind": "ConfigMap", "data": {"mapRoles": "- rolearn: theirs\n"}},
        "trainyard",
    )
    stack.up(CONFIG_MAP, AWS_AUTH)
    stack.refresh(CONFIG_MAP)
    stack.up(CONFIG_MAP, AWS_AUTH)
    stack.up(CONFIG_MAP, labelled(AWS_AUTH))
    world.exists(path)
    stack.up(CONFIG_MAP, {**AWS_AUTH, "data": {"mapRoles": "[]\n"}})
    world.exists(path)
    stack.destroy(CONFIG_MAP)


def a_patch_of_an_object_of_others(world: World) -> None:
    """A patch owns its fields, releases them on deletion, and requires a name."""
    path = f"{CONFIG_MAPS}/settings"
    world.make(CONFIG_MAPS, {"metadata": {"name": "settings"}, "data": {"b": "theirs"}})
    stack = world.stack()
    patch = wanted(CONFIG_MAP_PATCH, in_system("settings"), data={"a": "1"})
    stack.up(CONFIG_MAP_PATCH, changed(patch, "metadata.name", None))
    for preview in (True, False):
        stack.up(CONFIG_MAP_PATCH, patch, preview=preview)
    stack.up(CONFIG_MAP_PATCH, patch)
    stack.refresh(CONFIG_MAP_PATCH)
    for preview in (True, False):
        stack.up(CONFIG_MAP_PATCH, changed(patch, "data.a", "2"), preview=preview)
    taken = changed(patch, "data", {"b": "ours"})
    stack.up(CONFIG_MAP_PATCH, taken)
    stack.up(CONFIG_MAP_PATCH, changed(taken, "metadata.annotations", FORCE))
    world.exists(path)
    stack.destroy(CONFIG_MAP_PATCH)
    world.exists(path)


def a_patch_of_nothing(world: World) -> None:
    """A patch of an object that does not exist creates it."""
    stack = world.stack()
    stack.up(CONFIG_MAP_PATCH, wanted(CONFIG_MAP_PATCH, in_system("settings"), data={"a": "1"}))
    stack.destroy(CONFIG_MAP_PATCH)
    world.exists(f"{CONFIG_MAPS}/settings")
    world.remove(f"{CONFIG_MAPS}/settings")


def a_field_that_others_took_over(world: World) -> None:
    """Another manager applied an owned field: a change of it is a conflict unless forced."""
    path = f"{CONFIG_MAPS}/settings"
    stack = world.stack(enableConfigMapMutable="true")
    stack.up(CONFIG_MAP, SETTINGS)
    stack.up(CONFIG_MAP, labelled(SETTINGS))
    theirs = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "theirs"}}
    world.apply(path, theirs, "somebody")
    ours = changed(labelled(SETTINGS), "data.a", "2")
    for preview in (True, False):
        stack.up(CONFIG_MAP, ours, preview=preview)
    stack.up(CONFIG_MAP, changed(ours, "metadata.annotations", FORCE))
    stack.destroy(CONFIG_MAP)


def an_object_that_others_changed(world: World) -> None:
    """A refresh shows the change, and the next `up` reverts it; other fields are ignored."""
    path = f"{CONFIG_MAPS}/settings"
    stack = world.stack(enableConfigMapMutable="true")
    stack.up(CONFIG_MAP, SETTINGS)
    world.api.patch(path, {"data": {"a": "theirs", "b": "theirs"}})
    stack.up(CONFIG_MAP, SETTINGS)
    stack.refresh(CONFIG_MAP)
    stack.up(CONFIG_MAP, SETTINGS)
    world.api.patch(path, {"data": {"a": None}})
    stack.refresh(CONFIG_MAP)
    stack.destroy(CONFIG_MAP)


def an_object_that_others_deleted(world: World) -> None:
    """A refresh removes it from the state, an update fails, a deletion succeeds."""
    path = f"{CONFIG_MAPS}/settings"
    stack = world.stack()
    stack.up(CONFIG_MAP, SETTINGS)
    world.remove(path)
    stack.up(CONFIG_MAP, SETTINGS)
    for preview in (True, False):
        stack.up(CONFIG_MAP, labelled(SETTINGS), preview=preview)
    stack.destroy(CONFIG_MAP)
    stack.up(CONFIG_MAP, SETTINGS)
    world.remove(path)
    stack.refresh(CONFIG_MAP)


def an_import(world: World) -> None:
    """An import returns inputs as a program would write them."""
    theirs = {"metadata": {"name": "settings"}, "data": {"a": "1"}}
    world.make(CONFIG_MAPS, theirs)
    stack = world.stack()
    stack.import_(CONFIG_MAP, "kube-system/settings")
    stack.up(CONFIG_MAP, wanted(CONFIG_MAP, in_system("settings"), data={"a": "1"}))
    stack.import_(CONFIG_MAP, "kube-system/nothing", "nothing")


def an_object_that_was_made_unheard(world: World) -> None:
    """After a kill, the launcher has it read by its id; `up` then keeps or creates it."""
    stack = world.stack()
    for token, inputs in ((CONFIG_MAP, SETTINGS), (DAEMON_SET, PLUGIN)):
        killed = world.stack()
        killed.up(token, inputs)
        name = inputs["metadata"]["name"]
        stack.take_up(token, f"kube-system/{name}", inputs)
        stack.up(token, inputs)
        stack.up(token, labelled(inputs))
        stack.destroy(token)
        stack.take_up(token, f"kube-system/{name}", inputs)
