"""The sandbox's account: what stands in `fixture.yaml`, and the code that loads it."""
