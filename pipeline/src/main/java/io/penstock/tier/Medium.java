package io.penstock.tier;

/// Where the bytes of a tier are stored.
public enum Medium {
  DEVICE,
  HOST,
  DISK,
  REMOTE
}
