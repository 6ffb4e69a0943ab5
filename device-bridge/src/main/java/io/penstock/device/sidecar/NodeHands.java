package io.penstock.device.sidecar;

import io.penstock.KvException;
import io.penstock.block.Owned;
import io.penstock.device.memory.StagingPool;
import io.penstock.device.sidecar.Message.Done;
import io.penstock.device.sidecar.Message.Failed;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;
import reactor.core.scheduler.Scheduler;
import reactor.util.Logger;
import reactor.util.Loggers;

/// What a node does outside of its mailbox, mapping and copying, and the counts of it. All results come back as events
/// of the mailbox.
final class NodeHands {
  private static final Logger LOG = Loggers.getLogger(NodeHands.class);

  private final SideCarServerOptions options;
  private final RegionOpener opener;
  private final Scheduler hands;
  private final Mailbox mailbox;
  private final ShortWork shortWork;
  private final Copier copier;
  /// The mailbox's: claimed by regions of all clients.
  private long hostBytes;
  private volatile SideCarStat stat = SideCarStat.NONE;

  NodeHands(SideCarServerOptions options, RegionOpener opener, StagingPool staging, Scheduler hands, Mailbox mailbox) {
    this.options = options;
    this.opener = opener;
    this.hands = hands;
    this.mailbox = mailbox;
    this.shortWork = new ShortWork(hands, Copier.THREADS);
    this.copier = new Copier(hands, shortWork, staging);
  }

  SideCarServerOptions options() {
    return options;
  }

  /// For threads that read connections of this node.
  ShortWork shortWork() {
    return shortWork;
  }

  SideCarStat stat() {
    return stat;
  }

  /// Host memory of all clients for `region`, in the mailbox; why there is none, or null.
  @Nullable Failed claim(SharedRegion region) {
    if (region.hostBytes() > options.maxBytes() - hostBytes) {
      return refused(SideCarCode.TOO_LARGE, region.id(),
          region.hostBytes() + " bytes beside " + hostBytes + " of at most " + options.maxBytes()
              + " of all clients");
    }
    hostBytes += region.hostBytes();
    return null;
  }

  /// In the mailbox.
  void giveBack(SharedRegion region) {
    hostBytes -= region.hostBytes();
  }

  void open(SharedRegion region, Peer peer, Consumer<RegionWindow> mapped, Consumer<Throwable> failed, Runnable then) {
    opener.open(region, peer).subscribe(window -> mailbox.run(() -> {
      count(0, 1, region.bytes(), 0, 0, 0, 0);
      mapped.accept(window);
      then.run();
    }), failure -> mailbox.run(() -> {
      count(0, 0, 0, 0, 0, 0, 1);
      failed.accept(failure);
      then.run();
    }));
  }

  /// Whatever the system refuses, `then` runs: those who wait for it must hear an end.
  void close(SharedRegion region, RegionWindow window, Runnable then) {
    AtomicBoolean begun = new AtomicBoolean();
    Runnable work = () -> {
      if (begun.getAndSet(true)) {
        return;
      }
      try {
        window.close();
      } catch (Throwable e) { // nobody can do more, and its client must not stay for it
        LOG.warn("side-car: region " + region.id() + " could not be given back", e);
      } finally {
        mailbox.run(() -> {
          count(0, -1, -region.bytes(), 0, 0, 0, 0);
          then.run();
        });
      }
    };
    try {
      hands.schedule(work);
    } catch (Throwable e) { // the node has ended, or there is no thread for it: somebody must
      work.run();
    }
  }

  Holds holds(Runnable last) {
    return new Holds(() -> mailbox.run(last));
  }

  /// @param first closed when the copies have ended, before `reply` hears of it
  void copy(List<Copier.Element> elements, Holds holds, Owned first, Consumer<Message> reply) {
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

  /// @param otherwise what anything is that has no code of its own
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

  /// In the mailbox.
  void count(int clients, int regions, long bytes, int copies, long copiedBytes, int failed, int refused) {
    SideCarStat now = stat;
    stat = new SideCarStat(now.clients() + clients, now.regions() + regions, now.bytes() + bytes, now.copies() + copies,
        now.copiedBytes() + copiedBytes, now.failedCopies() + failed, now.refused() + refused,
        now.failures());
  }
}
