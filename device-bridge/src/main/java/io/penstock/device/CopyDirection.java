package io.penstock.device;

/// Which way a batch of copies goes; one way a batch.
public enum CopyDirection {
  TO_DEVICE,
  TO_HOST
}
