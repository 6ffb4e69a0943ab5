package io.penstock.tier;

/// Kind of the memory that stores the bytes of a tier.
public enum Medium {
  DEVICE,
  HOST,
  DISK,
  REMOTE
}
