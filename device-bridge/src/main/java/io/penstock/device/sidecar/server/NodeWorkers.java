package io.penstock.device.sidecar.server;

import io.penstock.KvException;
import io.penstock.block.Owned;
import io.penstock.device.memory.StagingPool;
import io.penstock.device.sidecar.RegionSpec;
import io.penstock.device.sidecar.SideCarCode;
import io.penstock.device.sidecar.SideCarFailure;
import io.penstock.device.sidecar.SideCarServerOptions;
import io.penstock.device.sidecar.SideCarStat;
import io.penstock.device.sidecar.link.SideCarMessage;
import io.penstock.device.sidecar.link.SideCarMessage.Done;
import io.penstock.device.sidecar.link.SideCarMessage.Failed;
import io.penstock.device.sidecar.server.RegionOpener.RegionOwner;
import io.penstock.operator.Serial;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;
import reactor.core.scheduler.Scheduler;
import reactor.util.Logger;
import reactor.util.Loggers;

/// Maps and copies outside of the node's mailbox, and counts. All results return as events of the mailbox.
final class NodeWorkers {
  private static final Logger LOG = Loggers.getLogger(NodeWorkers.class);

  private final SideCarServerOptions options;
  private final RegionOpener opener;
  private final Scheduler workers;
  private final Serial mailbox;
  private final PieceQueue pieceQueue;
  private final Copier copier;
  /// Claimed by regions of all clients. For the mailbox.
  private long hostBytes;
  private volatile SideCarStat stat = SideCarStat.NONE;

  NodeWorkers(SideCarServerOptions options, RegionOpener opener, StagingPool staging, Scheduler workers,
      Serial mailbox) {
    this.options = options;
    this.opener = opener;
    this.workers = workers;
    this.mailbox = mailbox;
    this.pieceQueue = new PieceQueue(workers, Copier.THREADS);
    this.copier = new Copier(workers, pieceQueue, staging);
  }

  SideCarServerOptions options() {
    return options;
  }

  /// Queue for threads that read connections of this node.
  PieceQueue pieceQueue() {
    return pieceQueue;
  }

  SideCarStat stat() {
    return stat;
  }

  /// Claims host memory of all clients for `region`, in the mailbox; returns the refusal, or null.
  @Nullable Failed claim(RegionSpec region) {
    if (region.hostBytes() > options.maxBytes() - hostBytes) {
      return refused(SideCarCode.TOO_LARGE, region.id(),
          region.hostBytes() + " bytes beside " + hostBytes + " of at most " + options.maxBytes()
              + " of all clients");
    }
    hostBytes += region.hostBytes();
    return null;
  }

  /// Runs in the mailbox.
  void giveBack(RegionSpec region) {
    hostBytes -= region.hostBytes();
  }

  void open(RegionSpec region, RegionOwner owner, Consumer<RegionWindow> mapped, Consumer<Throwable> failed,
      Runnable then) {
    opener.open(region, owner).subscribe(window -> mailbox.run(() -> {
      count(0, 1, region.bytes(), 0, 0, 0, 0);
      mapped.accept(window);
      then.run();
    }), failure -> mailbox.run(() -> {
      count(0, 0, 0, 0, 0, 0, 1);
      failed.accept(failure);
      then.run();
    }));
  }

  /// Runs `then` in any case: callers that wait for it must get an end.
  void close(RegionSpec region, RegionWindow window, Runnable then) {
    AtomicBoolean begun = new AtomicBoolean();
    Runnable work = () -> {
      if (begun.getAndSet(true)) {
        return;
      }
      try {
        window.close();
      } catch (Throwable e) { // the mapping leaks; its client must still end
        LOG.warn("side-car: region {} could not be unmapped", region.id(), e);
      } finally {
        mailbox.run(() -> {
          count(0, -1, -region.bytes(), 0, 0, 0, 0);
          then.run();
        });
      }
    };
    try {
      workers.schedule(work);
    } catch (Throwable e) { // no worker is left: this thread closes it
      work.run();
    }
  }

  RefCount holds(Runnable last) {
    return new RefCount(() -> mailbox.run(last));
  }

  /// @param first closed when the copies have ended, before `reply` is called
  void copy(List<Copier.Element> elements, RefCount holds, Owned first, Consumer<SideCarMessage> reply) {
    long bytes = elements.stream().mapToLong(Copier.Element::bytes).sum();
    copier.copy(elements, holds).subscribe(nothing -> {}, failure -> {
      first.close();
      mailbox.run(() -> {
        count(0, 0, 0, 0, 0, 1, 0);
        reply.accept(answer(failure, SideCarCode.COPY_FAILED, SideCarFailure.NO_REGION));
      });
    }, () -> {
      first.close();
      mailbox.run(() -> {
        count(0, 0, 0, 1, bytes, 0, 0);
        reply.accept(new Done());
      });
    });
  }

  Failed refused(SideCarCode code, long region, String found) {
    count(0, 0, 0, 0, 0, 0, 1);
    return failed(code, region, found);
  }

  /// @param otherwise code for failures without one
  Failed answer(Throwable failure, SideCarCode otherwise, long region) {
    Throwable first = Exceptions.unwrapMultiple(failure).getFirst(); // parts of one copy may all fail
    if (first instanceof SideCarFailure known) {
      return failed(known.code(), known.region(), known.found());
    }
    return failed(otherwise, region,
        first instanceof KvException ? String.valueOf(first.getMessage()) : first.toString());
  }

  private Failed failed(SideCarCode code, long region, String found) {
    stat = stat.withFailure(code);
    return new Failed(code, region, found);
  }

  /// Runs in the mailbox.
  void count(int clients, int regions, long bytes, int copies, long copiedBytes, int failed, int refused) {
    SideCarStat now = stat;
    stat = new SideCarStat(now.clients() + clients, now.regions() + regions, now.bytes() + bytes, now.copies() + copies,
        now.copiedBytes() + copiedBytes, now.failedCopies() + failed, now.refused() + refused,
        now.failures());
  }
}
