package io.penstock.device;

/// Direction of a batch of copies; one direction a batch.
public enum CopyDirection {
  TO_DEVICE,
  TO_HOST
}
