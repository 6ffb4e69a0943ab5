package io.penstock.device.ascend;

import io.penstock.device.ascend.acl.AclRuntime;
import io.penstock.device.ascend.failure.AclCode;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import reactor.util.Logger;
import reactor.util.Loggers;

/// The stream that copies of one device are queued on: made when it is first needed, replaced when copies on it have
/// failed. For the device's thread, with its context set.
final class CopyStream {
  private static final Logger LOG = Loggers.getLogger(CopyStream.class);

  private final int device;
  private final AclRuntime runtime;
  private final int timeoutMillis;
  private @Nullable MemorySegment stream;
  /// A stream whose copies have failed, and which did not abort them.
  private @Nullable MemorySegment stuck;

  CopyStream(int device, AclRuntime runtime, int timeoutMillis) {
    this.device = device;
    this.runtime = runtime;
    this.timeoutMillis = timeoutMillis;
  }

  MemorySegment get() {
    MemorySegment made = stream;
    if (made == null) {
      made = runtime.createStream();
      stream = made;
    }
    return made;
  }

  /// Waits for the queued work, and aborts it after a failure.
  ///
  /// @return the code
  int await() {
    int code = runtime.synchronize(get(), timeoutMillis);
    if (code != AclCode.OK) {
      giveUp();
    }
    return code;
  }

  /// Abandons the stream with its copies: later copies must not wait for them or be confused with them. Without a
  /// confirmation that they were aborted they may still run, and the device is stuck until they end.
  void giveUp() {
    MemorySegment queue = stream;
    stream = null;
    if (queue == null) {
      return;
    }
    if (runtime.abort(queue) == AclCode.OK) {
      destroy(queue);
    } else {
      stuck = queue;
    }
  }

  private void destroy(MemorySegment queue) {
    try {
      runtime.destroyStream(queue);
    } catch (RuntimeException e) { // no copy uses the stream any more, so it only leaks
      LOG.warn("device {}: a stream could not be destroyed", device, e);
    }
  }

  /// Whether copies that have failed may still be made, as far as is known.
  boolean isStuck() {
    return stuck != null;
  }

  /// Asks the library again whether the stream is stuck.
  boolean isStillStuck() {
    MemorySegment queue = stuck;
    if (queue != null && runtime.synchronize(queue, 0) == AclCode.OK) {
      stuck = null;
      destroy(queue);
    }
    return isStuck();
  }

  void close() {
    for (MemorySegment made : new @Nullable MemorySegment[] {stuck, stream}) {
      if (made != null) {
        destroy(made);
      }
    }
    stuck = null;
    stream = null;
  }
}
