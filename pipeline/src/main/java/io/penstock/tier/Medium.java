package io.penstock.tier;

/// Where the bytes of a tier rest.
public enum Medium {
  DEVICE,
  HOST,
  DISK,
  REMOTE
}
