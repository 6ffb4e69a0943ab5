package io.penstock.device.sidecar;

import java.util.random.RandomGenerator;

/// Names a client for its life, over all of its connections.
record ClientId(long high, long low) {
  static ClientId random(RandomGenerator random) {
    return new ClientId(random.nextLong(), random.nextLong());
  }
}
