package io.penstock.device.ascend;

import io.penstock.device.CopyBatch;
import io.penstock.device.ascend.acl.AclRuntime;
import io.penstock.device.ascend.failure.AclCode;
import io.penstock.device.ascend.failure.AscendFailure;
import io.penstock.device.memory.StagingPool;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.LongSupplier;

/// Makes the copies of one device: it chooses the call of each copy, and maps the call's code to each element.
///
/// | way | call |
/// |---|---|
/// | host to device, device to host | `aclrtMemcpyBatch`, at most 4,096 elements a call, each direction separately |
/// | these, once a batch was answered with 207000 | `aclrtMemcpyAsync` each, and one wait |
/// | inside the device, or between two | `aclrtMemcpyAsync` each, and one wait |
/// | inside the host | `aclrtMemcpy` each |
///
/// 207000 is remembered for the device, and separately for imported memory. It means that nothing of that call was
/// copied; elements of earlier calls are not copied again. After any other code any part of the call may have been
/// copied, so all of its elements have failed, without a retry. An element is never part of two calls that may both
/// copy it.
///
/// For the device's thread alone, with its context set.
final class AclEngine {
  private static final CopyKind[] KINDS = CopyKind.values();

  private final int device;
  private final AclCopies copies;
  private final AscendOptions options;
  private final LongSupplier nanos;
  private final AscendListener listener;
  private final CopyStream stream;
  private final CopyCall call = new CopyCall();
  private final CopyTally tally = new CopyTally();
  /// Indexes in the call of the elements that the stream has accepted.
  private final int[] accepted = new int[CopyBatch.MAX_ELEMENTS];
  private int failing;
  private int failingCode;
  private boolean batches = true;
  private boolean sharedBatches = true;

  /// @param nanos a clock, for the listener
  AclEngine(int device, AclRuntime runtime, Arena arena, AscendOptions options, LongSupplier nanos,
      AscendListener listener) {
    this.device = device;
    this.copies = new AclCopies(runtime.library(), arena);
    this.options = options;
    this.nanos = nanos;
    this.listener = listener;
    this.stream = new CopyStream(device, runtime, (int) options.transferTimeout().toMillis());
  }

  /// Routes copies to and from host memory outside `known` through buffers of `pool` from now on.
  void stage(StagingPool pool, MemoryPlaces known) {
    call.stage(new CopyStaging(pool, known, stream));
  }

  /// Copies all of `elements`: each has ended when this returns. If it throws, elements that have not ended may have
  /// been copied, and [#isStuck()] answers whether they may still be.
  CopyReport copy(CopyElements elements) {
    int count = elements.count();
    tally.begin(count);
    failing = 0;
    isStuck(); // looks again
    int kinds = 0;
    for (int i = 0; i < count; i++) {
      kinds |= 1 << elements.kind(i).ordinal();
    }
    for (CopyKind kind : KINDS) {
      if ((kinds & (1 << kind.ordinal())) != 0) {
        copy(kind, elements, count);
      }
    }
    return tally.report();
  }

  private void copy(CopyKind kind, CopyElements elements, int count) {
    call.begin(kind, elements);
    for (int i = 0; i < count; i++) {
      if (elements.kind(i) == kind && !call.add(i)) {
        run();
        call.add(i); // alone, it has room
      }
    }
    if (call.count() > 0) {
      run();
    }
  }

  private void run() {
    if (stream.isStuck()) {
      allEnded(AclCode.RT_STREAM_SYNC_TIMEOUT.number(), 0);
    } else {
      long started = nanos.getAsLong();
      CopyMethod method = made();
      long bytes = 0;
      for (int i = 0; i < call.count(); i++) {
        bytes += call.bytes(i);
      }
      listener.called(device, call.kind(), method, call.count(), bytes, nanos.getAsLong() - started);
    }
    tellFailed();
    call.clear();
  }

  private CopyMethod made() {
    if (call.kind() == CopyKind.HOST_TO_HOST) {
      oneByOne();
      return CopyMethod.SYNC;
    }
    if (call.kind().isBatched() && batches && (sharedBatches || !call.isShared()) && batched()) {
      return CopyMethod.BATCH;
    }
    onStream();
    return CopyMethod.ASYNC;
  }

  /// @return false if the call is not supported, and nothing was copied
  private boolean batched() {
    copies.begin(call.source(), call.target());
    for (int i = 0; i < call.count(); i++) {
      copies.add(call.from(i), call.to(i), call.bytes(i));
    }
    tally.batchCall(call.count());
    int code = copies.batch();
    if (isUnsupported(code)) {
      if (call.isShared()) {
        sharedBatches = false;
      } else {
        batches = false;
      }
      tally.fellBack();
      listener.fellBack(device, code);
      return false;
    }
    allEnded(code, Math.max(0, copies.failIndex()));
    return true;
  }

  private boolean isUnsupported(int code) {
    return code == AclCode.RT_FEATURE_NOT_SUPPORTED.number()
        || (options.libraryUnsupportedFallsBack() && code == AclCode.FEATURE_UNSUPPORTED.number());
  }

  private void oneByOne() {
    for (int i = 0; i < call.count(); i++) {
      tally.single();
      ended(i, copies.sync(call.from(i), call.to(i), call.bytes(i), CopyKind.HOST_TO_HOST), i);
    }
  }

  private void onStream() {
    MemorySegment queue;
    try {
      queue = stream.get();
    } catch (RuntimeException | Error e) {
      allEnded(e instanceof AscendFailure known ? known.error().code() : AclCode.FAILURE.number(), 0);
      return;
    }
    try {
      await(queued(queue));
    } catch (Throwable e) { // accepted copies would have no wait
      stream.giveUp();
      throw e;
    }
  }

  /// @return how many the stream has accepted
  private int queued(MemorySegment queue) {
    int count = 0;
    for (int i = 0; i < call.count(); i++) {
      int code = copies.async(call.from(i), call.to(i), call.bytes(i), call.kind(), queue);
      tally.single();
      if (code == AclCode.OK) {
        accepted[count++] = i;
      } else {
        ended(i, code, i);
      }
    }
    return count;
  }

  /// All accepted elements share the answer of the wait.
  private void await(int count) {
    int code = count > 0 ? stream.await() : AclCode.OK;
    for (int i = 0; i < count; i++) {
      ended(accepted[i], code, accepted[0]);
    }
  }

  /// Whether failed copies may still be made: until then their memory must not change, and no other copies are made.
  /// Asks the library again.
  boolean isStuck() {
    boolean isStuck = stream.isStillStuck();
    call.clear();
    return isStuck;
  }

  private void allEnded(int code, int blamed) {
    for (int i = 0; i < call.count(); i++) {
      ended(i, code, blamed);
    }
  }

  /// @param i index in the call
  private void ended(int i, int code, int blamed) {
    if (code != AclCode.OK) {
      tally.failed(call.number(blamed), code);
      if (code != failingCode) {
        tellFailed();
      }
      failingCode = code;
      failing++;
    }
    call.ended(i, code);
  }

  /// Reports elements of one code together.
  private void tellFailed() {
    if (failing > 0) {
      listener.failed(device, failingCode, failing);
      failing = 0;
    }
  }

  /// Ends the streams.
  void close() {
    stream.close();
    call.clear();
  }
}
