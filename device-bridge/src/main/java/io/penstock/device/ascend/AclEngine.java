package io.penstock.device.ascend;

import io.penstock.device.CopyBatch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import reactor.util.Logger;
import reactor.util.Loggers;

/// Makes the copies of one device: which call makes which copy, and what the call's code means for each element.
///
/// | way | call |
/// |---|---|
/// | host to device, device to host | `aclrtMemcpyBatch`, at most 4,096 elements a call, both ways apart |
/// | the same, once a batch was answered with 207000 | `aclrtMemcpyAsync` each, and one wait; remembered for the device, apart for imported memory |
/// | inside the device, or between two | `aclrtMemcpyAsync` each, and one wait |
/// | inside the host | `aclrtMemcpy` each |
///
/// 207000 says that nothing of that call was copied; what was copied by calls before it is not copied again. After any other code any part of
/// the call may have been copied, so all of its elements have failed, and nobody tries them again. An element is never part of two calls
/// that may both copy it.
///
/// For the device's thread alone, with its context set.
final class AclEngine {
  private static final Logger LOG = Loggers.getLogger(AclEngine.class);

  /// Elements of one request: where they are, whose memory it is, and what became of them.
  interface Elements {
    int count();

    long from(int element);

    long to(int element);

    long bytes(int element);

    /// Neither place changes while the request runs.
    MemoryPlace source(int element);

    MemoryPlace target(int element);

    /// [CopyRequest#COPIED] or a code. Called once for each.
    void ended(int element, int code);
  }

  private static final CopyKind[] KINDS = CopyKind.values();

  private final int device;
  private final AclRuntime runtime;
  private final AclCopies copies;
  private final AscendOptions options;
  private final LongSupplier nanos;
  private final AscendListener listener;
  private final Tally tally = new Tally();
  /// Numbers of the elements of the call that is being made.
  private final int[] call = new int[CopyBatch.MAX_ELEMENTS];
  private int called;
  private int failing;
  private int failingCode;
  private boolean batches = true;
  private boolean sharedBatches = true;
  private @Nullable MemorySegment stream;
  /// A stream whose copies have failed, and which did not give them up.
  private @Nullable MemorySegment stuck;

  /// @param nanos a clock, for the listener
  AclEngine(int device, AclRuntime runtime, Arena arena, AscendOptions options, LongSupplier nanos, AscendListener listener) {
    this.device = device;
    this.runtime = runtime;
    this.copies = new AclCopies(runtime.library(), arena);
    this.options = options;
    this.nanos = nanos;
    this.listener = listener;
  }

  /// Whether the batch call is used, which is so until it was found not to be supported.
  boolean batches() {
    return batches;
  }

  /// Copies all of `elements`: each has ended when this returns, or throws.
  CopyReport copy(Elements elements) {
    int count = elements.count();
    tally.begin(count);
    isStuck(); // looks again
    int kinds = 0;
    for (int i = 0; i < count; i++) {
      kinds |= 1 << kind(elements, i).ordinal();
    }
    for (CopyKind kind : KINDS) {
      if ((kinds & (1 << kind.ordinal())) != 0) {
        copy(kind, elements, count);
      }
    }
    return tally.report();
  }

  private static CopyKind kind(Elements elements, int element) {
    return CopyKind.of(elements.source(element), elements.target(element));
  }

  private void copy(CopyKind kind, Elements elements, int count) {
    called = 0;
    for (int i = 0; i < count; i++) {
      if (kind(elements, i) == kind) {
        if (called > 0 && (called == call.length || !alike(elements, call[0], i))) {
          run(kind, elements);
        }
        call[called++] = i;
      }
    }
    if (called > 0) {
      run(kind, elements);
    }
  }

  /// A batch has one source and one destination.
  private static boolean alike(Elements elements, int one, int other) {
    return elements.source(one).equals(elements.source(other)) && elements.target(one).equals(elements.target(other));
  }

  private void run(CopyKind kind, Elements elements) {
    if (stuck != null) {
      allEnded(elements, AclCode.RT_STREAM_SYNC_TIMEOUT.number(), call[0]);
      tellFailed();
      called = 0;
      return;
    }
    long started = nanos.getAsLong();
    CopyMethod method = kind == CopyKind.HOST_TO_HOST ? CopyMethod.SYNC : CopyMethod.ASYNC;
    if (kind.isBatched() && takesBatches(elements) && batched(elements)) {
      method = CopyMethod.BATCH;
    } else if (method == CopyMethod.SYNC) {
      oneByOne(elements);
    } else {
      onStream(kind, elements);
    }
    long bytes = 0;
    for (int i = 0; i < called; i++) {
      bytes += elements.bytes(call[i]);
    }
    listener.called(device, kind, method, called, bytes, nanos.getAsLong() - started);
    tellFailed();
    called = 0;
  }

  /// @return false if the call is not supported, and nothing was copied
  private boolean batched(Elements elements) {
    copies.begin(elements.source(call[0]), elements.target(call[0]));
    for (int i = 0; i < called; i++) {
      copies.add(elements.from(call[i]), elements.to(call[i]), elements.bytes(call[i]));
    }
    tally.batchCalls++;
    tally.batched += called;
    int code = copies.batch();
    if (isUnsupported(code)) {
      if (isShared(elements)) {
        sharedBatches = false;
      } else {
        batches = false;
      }
      tally.fallbacks++;
      listener.fellBack(device, code);
      return false;
    }
    allEnded(elements, code, call[Math.max(0, copies.failIndex())]);
    return true;
  }

  private boolean takesBatches(Elements elements) {
    return batches && (sharedBatches || !isShared(elements));
  }

  /// All elements of a call are alike.
  private boolean isShared(Elements elements) {
    return elements.source(call[0]).shared() || elements.target(call[0]).shared();
  }

  private void allEnded(Elements elements, int code, int blamed) {
    for (int i = 0; i < called; i++) {
      ended(elements, call[i], code, blamed);
    }
  }

  private boolean isUnsupported(int code) {
    return code == AclCode.RT_FEATURE_NOT_SUPPORTED.number()
        || (options.libraryUnsupportedFallsBack() && code == AclCode.FEATURE_UNSUPPORTED.number());
  }

  private void oneByOne(Elements elements) {
    for (int i = 0; i < called; i++) {
      int element = call[i];
      int code = copies.sync(elements.from(element), elements.to(element), elements.bytes(element), CopyKind.HOST_TO_HOST);
      tally.single++;
      ended(elements, element, code, element);
    }
  }

  /// Whatever was accepted by the stream shares the answer of the wait.
  private void onStream(CopyKind kind, Elements elements) {
    MemorySegment queue;
    try {
      queue = stream();
    } catch (RuntimeException e) {
      allEnded(elements, e instanceof AscendFailure known ? known.error().code() : AclCode.FAILURE.number(), call[0]);
      return;
    }
    int accepted = 0;
    for (int i = 0; i < called; i++) {
      int element = call[i];
      int code = copies.async(elements.from(element), elements.to(element), elements.bytes(element), kind, queue);
      tally.single++;
      if (code == AclCode.OK) {
        call[accepted++] = element;
      } else {
        ended(elements, element, code, element);
      }
    }
    if (accepted > 0) {
      int code = runtime.synchronize(queue, (int) options.transferTimeout().toMillis());
      if (code != AclCode.OK) {
        giveUp(queue);
      }
      for (int i = 0; i < accepted; i++) {
        ended(elements, call[i], code, call[0]);
      }
    }
  }

  /// The stream goes with what is left on it: the next copies must not wait for them, nor be taken for them. Where nobody says that they
  /// were given up, they may still be made, and the device is stuck until they are.
  private void giveUp(MemorySegment queue) {
    stream = null;
    if (runtime.abort(queue) == AclCode.OK) {
      destroy(queue);
    } else {
      stuck = queue;
    }
  }

  private void destroy(MemorySegment queue) {
    try {
      runtime.destroyStream(queue);
    } catch (RuntimeException e) { // nothing is on it any more
      LOG.warn("device " + device + ": a stream could not be destroyed", e);
    }
  }

  /// Whether copies that have failed may still be made: until then their memory must stay what it is, and no others are made. Looks again.
  boolean isStuck() {
    MemorySegment queue = stuck;
    if (queue != null && runtime.synchronize(queue, 0) == AclCode.OK) {
      stuck = null;
      destroy(queue);
    }
    return stuck != null;
  }

  private void ended(Elements elements, int element, int code, int blamed) {
    if (code != AclCode.OK) {
      tally.failed(blamed, code);
      if (code != failingCode) {
        tellFailed();
      }
      failingCode = code;
      failing++;
    }
    elements.ended(element, code);
  }

  /// The listener hears of elements of one code together.
  private void tellFailed() {
    if (failing > 0) {
      listener.failed(device, failingCode, failing);
      failing = 0;
    }
  }

  private MemorySegment stream() {
    MemorySegment made = stream;
    if (made == null) {
      made = runtime.createStream();
      stream = made;
    }
    return made;
  }

  /// Ends the streams.
  void close() {
    for (MemorySegment made : new @Nullable MemorySegment[] {stuck, stream}) {
      if (made != null) {
        destroy(made);
      }
    }
    stuck = null;
    stream = null;
  }

  /// The figures of one request.
  private static final class Tally {
    private int elements;
    private int failed;
    private int firstFailed;
    private int code;
    private int batchCalls;
    private int batched;
    private int single;
    private int fallbacks;

    void begin(int elements) {
      this.elements = elements;
      failed = 0;
      firstFailed = -1;
      code = 0;
      batchCalls = 0;
      batched = 0;
      single = 0;
      fallbacks = 0;
    }

    void failed(int element, int code) {
      if (failed++ == 0) {
        firstFailed = element;
        this.code = code;
      }
    }

    CopyReport report() {
      return new CopyReport(elements, failed, firstFailed, code, batchCalls, batched, single, fallbacks);
    }
  }
}
