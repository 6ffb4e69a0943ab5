package io.penstock.wire;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import java.lang.reflect.Field;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/// What Netty's leak detector says of buffers that were collected unreleased.
final class BufferLeaks {
  private static final Queue<String> REPORTS = new ConcurrentLinkedQueue<>();

  static {
    try {
      Field detector = Class.forName("io.netty.buffer.AbstractByteBuf").getDeclaredField("leakDetector");
      detector.setAccessible(true);
      ((ResourceLeakDetector<?>) requireNonNull(detector.get(null)))
          .setLeakListener((type, records) -> REPORTS.add(type + " " + records));
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  private BufferLeaks() {}

  /// Listens from now on. What earlier tests of this JVM have left is collected first.
  static void listen() {
    collect();
    REPORTS.clear();
  }

  /// Fails if a buffer was collected unreleased since [#listen()].
  static void requireNone() {
    collect();
    if (!REPORTS.isEmpty()) {
      throw new AssertionError("leaked buffers must be none (was " + List.copyOf(REPORTS) + ")");
    }
  }

  private static void collect() {
    for (int i = 0; i < 3; i++) {
      System.gc();
      ByteBuf tracked = ByteBufAllocator.DEFAULT.directBuffer(16); // the detector reports when a buffer is made
      tracked.release();
    }
  }
}
