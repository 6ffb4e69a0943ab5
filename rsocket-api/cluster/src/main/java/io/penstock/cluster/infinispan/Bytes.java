package io.penstock.cluster.infinispan;

import org.infinispan.commons.marshall.WrappedByteArray;

/// Bytes that Infinispan keeps wrapped or plain.
final class Bytes {
  private Bytes() {}

  static byte[] of(Object stored) {
    return stored instanceof WrappedByteArray wrapped ? wrapped.getBytes() : (byte[]) stored;
  }
}
