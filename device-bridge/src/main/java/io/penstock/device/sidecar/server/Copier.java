package io.penstock.device.sidecar.server;

import io.penstock.block.Owned;
import io.penstock.device.CopyBatch;
import io.penstock.device.CopyDirection;
import io.penstock.device.Device;
import io.penstock.device.ascend.AscendDevice;
import io.penstock.device.ascend.CopyRequest;
import io.penstock.device.memory.StagingPool;
import io.penstock.device.sidecar.server.RegionWindow.InFile;
import io.penstock.device.sidecar.server.RegionWindow.Mapped;
import io.penstock.device.sidecar.server.RegionWindow.OnDevice;
import io.penstock.device.sidecar.server.RegionWindow.OnFabric;
import io.penstock.system.NativeMemory;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Function;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// Makes the copies of one call: inside the host by `memmove` or file calls, between mapped memory and a device as
/// batches of that device, between addresses that one Ascend device reaches as a request of it, all others in pieces
/// through staging memory. Copies have no order.
final class Copier {
  /// One copy whose bounds were checked.
  record Element(RegionWindow from, long fromOffset, RegionWindow to, long toOffset, long bytes) {
    private Element piece(long offset, long length) {
      return new Element(from, fromOffset + offset, to, toOffset + offset, length);
    }
  }

  /// Threads that copies are worth having: memory is not faster for more.
  static final int THREADS = Math.clamp(Runtime.getRuntime().availableProcessors(), 1, 4);
  /// Less than this is copied faster than it is handed to another thread.
  private static final long LEAST_PART_BYTES = 1 << 20;
  /// More than this is no short work.
  private static final long MOST_SHORT_BYTES = 2 << 20;

  private record Way(Device device, CopyDirection direction) {}

  private final Scheduler workers;
  private final PieceQueue pieceQueue;
  private final StagingPool staging;

  /// @param workers a few threads that may block on memory and files
  /// @param staging its queue has room for all copies that may wait
  Copier(Scheduler workers, PieceQueue pieceQueue, StagingPool staging) {
    this.workers = workers;
    this.pieceQueue = pieceQueue;
    this.staging = staging;
  }

  /// Ends when every part has ended, with the first error of any.
  ///
  /// @param holds keeps the windows open: each part has a share until its memory is not touched any more, which may be
  ///     after its end
  Mono<Void> copy(List<Element> elements, RefCount holds) {
    List<Element> inHost = new ArrayList<>();
    List<Element> inMemory = new ArrayList<>();
    List<Element> staged = new ArrayList<>();
    Map<Way, CopyBatch> batches = new LinkedHashMap<>();
    Map<AscendDevice, CopyRequest> requests = new LinkedHashMap<>();
    for (Element each : elements) {
      AscendDevice between = AddressCopies.between(each.from(), each.to());
      if (between != null) {
        requests.computeIfAbsent(between, first -> new CopyRequest(1)).add(
            AddressCopies.address(each.from(), each.fromOffset()),
            AddressCopies.address(each.to(), each.toOffset()), each.bytes());
      } else if (each.from() instanceof Mapped from && each.to() instanceof OnDevice to) {
        batch(batches, to.device(), CopyDirection.TO_DEVICE).add(slice(from, each.fromOffset(), each.bytes()),
            to.address(each.toOffset()));
      } else if (each.from() instanceof OnDevice from && each.to() instanceof Mapped to) {
        batch(batches, from.device(), CopyDirection.TO_HOST).add(slice(to, each.toOffset(), each.bytes()),
            from.address(each.fromOffset()));
      } else if (each.from() instanceof Mapped && each.to() instanceof Mapped && each.bytes() <= MOST_SHORT_BYTES) {
        inMemory.add(each);
      } else if (each.from() instanceof Mapped || each.to() instanceof Mapped) {
        inHost.add(each);
      } else {
        staged.add(each);
      }
    }
    List<Mono<Void>> parts = new ArrayList<>();
    requests.forEach((device, request) -> parts.add(byAddress(device, request, holds)));
    batches
        .forEach((way, batch) -> parts.add(inTurn(way.device(), holds, share -> way.device().copy(batch.hold(share)))));
    if (!inMemory.isEmpty()) {
      List<Runnable> tasks = new ArrayList<>();
      parts(inMemory, LEAST_PART_BYTES).forEach(part -> tasks.add(() -> part.forEach(Copier::move)));
      parts.add(pieceQueue.on(tasks, holds.share()));
    }
    long even = Math.ceilDiv(inHost.stream().mapToLong(Element::bytes).sum(), THREADS);
    parts(inHost, Math.max(LEAST_PART_BYTES, even)).forEach(part -> parts.add(onHost(part, holds.share())));
    if (!staged.isEmpty()) {
      parts.add(staged(staged, holds));
    }
    return parts.size() == 1 ? parts.getFirst() : Mono.whenDelayError(parts);
  }

  private static CopyBatch batch(Map<Way, CopyBatch> batches, Device device, CopyDirection direction) {
    return batches.computeIfAbsent(new Way(device, direction), way -> new CopyBatch(direction));
  }

  private static Mono<Void> byAddress(AscendDevice device, CopyRequest request, RefCount holds) {
    return inTurn(device, holds, share -> AddressCopies.copy(device, request.hold(share)));
  }

  /// Waits for a turn at the device, together with copies of blocks.
  ///
  /// @param copy receives a hold on turn and windows, for as long as the device uses them
  private static Mono<Void> inTurn(Device device, RefCount holds, Function<Owned, Mono<Void>> copy) {
    Owned waiting = holds.share();
    return device.turns().take(turn -> {
      Owned share = holds.share();
      return copy.apply(new RefCount(() -> {
        turn.close();
        share.close();
      }).share());
    }).doFinally(end -> waiting.close());
  }

  /// Each part has at least `least` bytes, except the last.
  private static List<List<Element>> parts(List<Element> elements, long least) {
    List<List<Element>> parts = new ArrayList<>();
    long bytes = least;
    for (Element each : elements) {
      if (bytes >= least) {
        parts.add(new ArrayList<>());
        bytes = 0;
      }
      parts.getLast().add(each);
      bytes += each.bytes();
    }
    return parts;
  }

  private Mono<Void> onHost(List<Element> elements, Owned share) {
    return work(() -> {
      try (share) {
        for (Element each : elements) {
          copyOnHost(each);
        }
      }
      return elements;
    }).doFinally(end -> share.close()); // where nothing was run
  }

  /// One side is mapped, neither is on a device.
  private static void copyOnHost(Element each) throws IOException {
    if (each.from() instanceof InFile file && each.to() instanceof Mapped to) {
      file.read(each.fromOffset(), slice(to, each.toOffset(), each.bytes()));
    } else if (each.from() instanceof Mapped from && each.to() instanceof InFile file) {
      file.write(each.toOffset(), slice(from, each.fromOffset(), each.bytes()));
    } else {
      move(each);
    }
  }

  /// Moves bytes between two mapped sides.
  private static void move(Element each) {
    NativeMemory.move(slice((Mapped) each.from(), each.fromOffset(), each.bytes()),
        slice((Mapped) each.to(), each.toOffset(), each.bytes()));
  }

  private Mono<Void> staged(List<Element> elements, RefCount holds) {
    Owned share = holds.share();
    return Staging
        .use(staging, stage -> Flux.fromIterable(elements).concatMap(each -> pieces(each, stage), 0).concatMap(
            piece -> staged(piece, stage, holds), 0).then())
        .doFinally(end -> share.close());
  }

  private static Flux<Element> pieces(Element whole, Staging stage) {
    long pieces = Math.ceilDiv(whole.bytes(), stage.bytes());
    return Flux.generate(() -> 0L, (next, sink) -> {
      if (next == pieces) {
        sink.complete();
      } else {
        long offset = next * stage.bytes();
        sink.next(whole.piece(offset, Math.min(stage.bytes(), whole.bytes() - offset)));
      }
      return next + 1;
    });
  }

  private Mono<Void> staged(Element piece, Staging stage, RefCount holds) {
    MemorySegment memory = stage.memory().asSlice(0, piece.bytes());
    return moved(piece.from(), piece.fromOffset(), memory, CopyDirection.TO_HOST, stage, holds)
        .then(Mono.defer(() -> moved(piece.to(), piece.toOffset(), memory, CopyDirection.TO_DEVICE, stage, holds)));
  }

  private Mono<Void> moved(RegionWindow window, long offset, MemorySegment memory, CopyDirection direction,
      Staging stage, RefCount holds) {
    return switch (window) {
      case OnDevice there -> inTurn(there.device(), holds, share -> there.device().copy(new CopyBatch(direction)
          .add(memory, there.address(offset)).hold(share).hold(stage.share())));
      case OnFabric there -> {
        long address = AddressCopies.address(there, offset);
        CopyRequest request = direction == CopyDirection.TO_HOST
            ? new CopyRequest(1).add(address, memory.address(), memory.byteSize())
            : new CopyRequest(1).add(memory.address(), address, memory.byteSize());
        yield inTurn(there.device(), holds,
            share -> AddressCopies.copy(there.device(), request.hold(share).hold(stage.share())));
      }
      case InFile file -> work(() -> {
        if (direction == CopyDirection.TO_HOST) {
          file.read(offset, memory);
        } else {
          file.write(offset, memory);
        }
        return file;
      });
      case Mapped mapped -> throw new IllegalStateException("mapped memory must not be staged (was " + mapped + ")");
    };
  }

  private Mono<Void> work(Callable<?> work) {
    return WorkerTask.on(workers, work).then();
  }

  private static MemorySegment slice(Mapped window, long offset, long bytes) {
    return window.memory().asSlice(offset, bytes);
  }
}
