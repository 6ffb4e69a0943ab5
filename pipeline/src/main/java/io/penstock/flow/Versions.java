package io.penstock.flow;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.function.LongSupplier;

/// Numbers of a secure source, drawn in batches: one at a time they would cost more than the rest of a short value.
/// Safe from any thread.
final class Versions implements LongSupplier {
  private static final int BATCH_BYTES = 512;

  private final SecureRandom random = new SecureRandom();
  @GuardedBy("this") private final ByteBuffer drawn = ByteBuffer.allocate(BATCH_BYTES).limit(0);

  @Override
  public synchronized long getAsLong() {
    if (!drawn.hasRemaining()) {
      random.nextBytes(drawn.array());
      drawn.clear();
    }
    return drawn.getLong();
  }
}
