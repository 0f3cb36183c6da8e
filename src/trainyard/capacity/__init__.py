"""`capacity`: find, buy, extend, list and release reserved capacity."""
