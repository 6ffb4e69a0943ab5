package io.penstock.device.sidecar.client;

import static java.util.Objects.requireNonNull;

import io.penstock.budget.BudgetExhaustedException;
import io.penstock.budget.Permits;
import io.penstock.device.sidecar.RegionCopy;
import io.penstock.device.sidecar.RegionSpec;
import io.penstock.device.sidecar.RegionState;
import io.penstock.device.sidecar.SideCarClientOptions;
import io.penstock.device.sidecar.SideCarCode;
import io.penstock.device.sidecar.SideCarFailure;
import io.penstock.device.sidecar.SideCarHealth;
import io.penstock.device.sidecar.link.Link.Dialer;
import io.penstock.device.sidecar.link.SideCarMessage.Copy;
import io.penstock.device.sidecar.link.SideCarMessage.Known;
import io.penstock.device.sidecar.link.SideCarMessage.Query;
import io.penstock.device.sidecar.link.SideCarMessage.Register;
import io.penstock.device.sidecar.link.SideCarMessage.Unregister;
import io.penstock.device.sidecar.link.SocketLink;
import io.penstock.operator.LiveTimers;
import io.penstock.operator.Serial;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.random.RandomGenerator;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// The side of a process without devices. Keeps a connection to the node, and registers all regions again on a new one.
///
/// | | |
/// |---|---|
/// | healthy | connected, and the node has all regions; otherwise calls end at once with [SideCarCode#DOWN] |
/// | register | idempotent; [SideCarCode#MISMATCH] if the region is known as another one |
/// | copy | waits in a bounded queue; completes when all bytes have arrived; copies of a call have no order |
/// | unregister | refuses new copies of the region, waits for copies in flight, then the node unmaps it; idempotent |
/// | lost connection | calls under way end with [SideCarCode#DOWN]: a copy may have been made or not |
/// | cancel | drops the result; the node still copies, so memory is free only after [#unregister] or [#close] |
/// | threads | results are sent on a thread of the connection; slow consumers hop off it |
///
/// The memory stays the caller's, mapped and open until it was unregistered. Safe from any thread.
public final class SideCarClient {
  private final Serial mailbox = new Serial();
  private final KeptConnection upkeep;

  public SideCarClient(SideCarClientOptions options, Dialer dialer, Scheduler timer, RandomGenerator random,
      int process) {
    this.upkeep = new KeptConnection(mailbox, options, dialer, timer, random, process);
    mailbox.run(upkeep::dial);
  }

  /// Begins to connect to the node that listens on `path`, and goes on trying until it is closed. Has a thread that
  /// keeps time, and one for its connection.
  public static SideCarClient open(Path path, SideCarClientOptions options) {
    Scheduler timer = LiveTimers.of(Schedulers.newSingle("penstock-sidecar-client-time", true));
    SideCarClient client = new SideCarClient(options, SocketLink.dialer(path), timer, new SecureRandom(),
        (int) ProcessHandle.current().pid());
    client.upkeep.closed().subscribe(nothing -> {}, error -> {}, timer::dispose);
    return client;
  }

  /// The health from now on; slow subscribers get the latest only.
  public Flux<SideCarHealth> health() {
    return upkeep.changes().onBackpressureLatest();
  }

  public boolean isHealthy() {
    return upkeep.health().isHealthy();
  }

  /// Present health.
  public SideCarHealth status() {
    return upkeep.health();
  }

  /// Registers `region` with the node, now and after every loss of the connection.
  public Mono<Void> register(RegionSpec region) {
    requireNonNull(region, "region");
    return healthy(SideCarFailure.NO_REGION, (talking, sink) -> {
      RegionSpec known = upkeep.regions().get(region.id());
      if (known != null && !known.equals(region)) {
        sink.error(
            SideCarFailure.of(SideCarCode.MISMATCH, region.id(), region.bytes() + " bytes, before " + known.bytes()));
        return;
      }
      talking.ask(new Register(region), done -> {
        upkeep.regions().put(region.id(), region);
        sink.success();
      }, sink::error);
    });
  }

  /// Makes the node perform all of `copies`.
  ///
  /// @throws IllegalArgumentException if there are none, or more than [RegionCopy#MAX_ELEMENTS]
  public Mono<Void> copy(List<RegionCopy> copies) {
    Copy request = new Copy(List.copyOf(copies));
    if (copies.isEmpty() || copies.size() > RegionCopy.MAX_ELEMENTS) {
      throw new IllegalArgumentException(
          "copies must be 1 to " + RegionCopy.MAX_ELEMENTS + " (was " + copies.size() + ")");
    }
    return healthy(SideCarFailure.NO_REGION, (talking, sink) -> {
      Permits permits = upkeep.turns();
      AtomicBoolean cancelled = new AtomicBoolean();
      try {
        Permits.Ticket ticket = permits.acquire(1, () -> mailbox.run(() -> {
          if (cancelled.get()) {
            permits.release(1);
          } else {
            talking.ask(request, done -> {
              permits.release(1);
              sink.success();
            }, failure -> {
              permits.release(1);
              sink.error(failure);
            });
          }
        }), sink::error);
        sink.onCancel(() -> {
          cancelled.set(true);
          ticket.cancel();
        });
      } catch (BudgetExhaustedException e) {
        sink.error(e);
      }
    });
  }

  /// Unregisters a region; completes when the node has unmapped it.
  public Mono<Void> unregister(long region) {
    return healthy(region, (talking, sink) -> talking.ask(new Unregister(region), done -> {
      upkeep.regions().remove(region);
      sink.success();
    }, sink::error));
  }

  /// Asks the node about a region, also while regions are being registered; [RegionState#UNREACHABLE] without a
  /// connection.
  public Mono<RegionState> state(long region) {
    return Mono.create(sink -> mailbox.run(() -> {
      ClientSession talking = upkeep.greeted();
      if (talking == null) {
        sink.success(RegionState.UNREACHABLE);
        return;
      }
      talking.ask(new Query(region),
          message -> sink.success(message instanceof Known known ? known.state() : RegionState.UNREACHABLE),
          failure -> sink.success(RegionState.UNREACHABLE));
    }));
  }

  /// Waits for copies in flight, has the node unmap everything, and hangs up; without an answer it does so after the
  /// time to live. Lazy and idempotent.
  public Mono<Void> close() {
    return Mono.defer(() -> {
      mailbox.run(upkeep::leave);
      return upkeep.closed();
    });
  }

  private interface Call {
    void make(ClientSession talking, MonoSink<Void> sink);
  }

  private Mono<Void> healthy(long region, Call call) {
    return Mono.create(sink -> mailbox.run(() -> {
      ClientSession talking = upkeep.healthy();
      if (upkeep.isClosing()) {
        sink.error(SideCarFailure.of(SideCarCode.CLOSED, region, "closed"));
      } else if (talking == null) {
        sink.error(SideCarFailure.of(SideCarCode.DOWN, region, upkeep.health().toString()));
      } else {
        call.make(talking, sink);
      }
    }));
  }
}
