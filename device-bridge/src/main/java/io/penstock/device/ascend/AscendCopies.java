package io.penstock.device.ascend;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Owned;
import io.penstock.device.CopyBatch;
import io.penstock.device.DeviceFailure.CopyFailedException;
import io.penstock.device.ascend.acl.MemoryPlace;
import io.penstock.device.ascend.failure.AclCode;
import io.penstock.device.memory.StagingPool;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/// Makes copies with the engine of one device, on the device's thread, and closes the holds on their memory when they
/// have ended. Memory that a stuck device may still read or write is kept until it cannot.
final class AscendCopies {
  private final int logicalId;
  private final String device;
  private final AscendThread thread;
  /// The device's thread alone uses the fields below.
  private final AclEngine engine;
  private final AscendRegions regions;
  /// Memory that was being copied when the device got stuck.
  private final List<Owned> kept = new ArrayList<>();

  /// @param device named in errors
  AscendCopies(int logicalId, String device, AscendThread thread, AclEngine engine, AscendRegions regions) {
    this.logicalId = logicalId;
    this.device = device;
    this.thread = thread;
    this.engine = engine;
    this.regions = regions;
  }

  /// Implements [AscendDevice#copy(CopyBatch)].
  Mono<Void> copy(CopyBatch batch) {
    requireNonNull(batch, "batch");
    return Mono.defer(() -> {
      batch.take();
      return thread.<Void>submitted(sink -> copy(batch, sink), batch::close);
    });
  }

  private void copy(CopyBatch batch, MonoSink<Void> sink) {
    CopyReport report;
    try {
      report = made(() -> checked(batch), batch);
    } catch (Throwable e) { // the batch was closed, or is kept
      sink.error(e);
      return;
    }
    if (report.isComplete()) {
      sink.success();
    } else {
      sink.error(
          new CopyFailedException(device, batch.direction(), report.elements(), report.firstFailed(), report.code(),
              AclCode.explained(report.code())));
    }
  }

  private CopyElements checked(CopyBatch batch) {
    batch.check();
    regions.regions().require(batch);
    return new BatchElements(batch, new MemoryPlace(logicalId));
  }

  /// Makes the copies, and closes `memory` when they have ended, before the result is sent.
  private CopyReport made(Supplier<CopyElements> checked, Owned memory) {
    boolean isUntouched = true;
    try {
      CopyElements elements = checked.get();
      isUntouched = false;
      CopyReport report = engine.copy(elements);
      isUntouched = report.isUntouched();
      return report;
    } finally {
      letGo(memory, isUntouched);
    }
  }

  private void letGo(Owned memory, boolean isUntouched) {
    if (isUntouched) {
      memory.close();
    } else {
      kept.add(memory);
    }
    if (!engine.isStuck()) {
      closeKept();
    }
  }

  /// Closes the kept memory at the end of the device, when its engine is closed.
  void closeKept() {
    kept.forEach(Owned::close);
    kept.clear();
  }

  /// Implements [AscendDevice#copy(CopyRequest)].
  Mono<CopyReport> copy(CopyRequest request) {
    requireNonNull(request, "request");
    return Mono.defer(() -> {
      Owned holds = request.take();
      return thread.<CopyReport>submitted(sink -> copy(request, holds, sink), () -> {
        request.end();
        holds.close();
      });
    });
  }

  private void copy(CopyRequest request, Owned holds, MonoSink<CopyReport> sink) {
    try {
      CopyReport report = made(() -> regions.places().of(request), holds);
      request.end();
      sink.success(report);
    } catch (Throwable e) { // the holds were closed, or are kept
      request.endOpen(AclCode.FAILURE.number());
      request.end();
      sink.error(e);
    }
  }

  /// Implements [AscendDevice#stage].
  Mono<Void> stage(StagingPool pool) {
    requireNonNull(pool, "pool");
    return thread.submitted(sink -> {
      engine.stage(pool, regions.places());
      sink.success();
    });
  }
}
