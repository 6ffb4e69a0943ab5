package io.penstock.device.sidecar.client;

import static java.util.Objects.requireNonNull;

import io.penstock.KvException;
import io.penstock.budget.Permits;
import io.penstock.device.sidecar.RegionSpec;
import io.penstock.device.sidecar.SideCarClientOptions;
import io.penstock.device.sidecar.SideCarCode;
import io.penstock.device.sidecar.SideCarFailure;
import io.penstock.device.sidecar.SideCarHealth;
import io.penstock.device.sidecar.SideCarHealth.Phase;
import io.penstock.device.sidecar.link.Link.Dialer;
import io.penstock.device.sidecar.link.SideCarMessage.Bye;
import io.penstock.device.sidecar.link.SideCarMessage.ClientId;
import io.penstock.device.sidecar.link.SideCarMessage.Hello;
import io.penstock.device.sidecar.link.SideCarMessage.Welcome;
import io.penstock.operator.Serial;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/// Keeps a client connected to its node: connects, registers its regions again, and retries with back-off when the
/// connection is lost. For the mailbox, except where noted.
final class KeptConnection {
  private final Serial mailbox;
  private final SideCarClientOptions options;
  private final Dialer dialer;
  private final Scheduler timer;
  private final RandomGenerator random;
  private final Hello hello;
  private final Sinks.Many<SideCarHealth> changes = Sinks.many().replay().latest();
  private final Sinks.Empty<Void> closed = Sinks.empty();
  private final Map<Long, RegionSpec> regions = new LinkedHashMap<>();
  private volatile SideCarHealth health = new SideCarHealth(Phase.CONNECTING, null);
  private @Nullable ClientSession talk;
  private @Nullable Permits turns;
  private int failures;
  private boolean closing;

  KeptConnection(Serial mailbox, SideCarClientOptions options, Dialer dialer, Scheduler timer, RandomGenerator random,
      int process) {
    this.mailbox = mailbox;
    this.options = requireNonNull(options, "options");
    this.dialer = requireNonNull(dialer, "dialer");
    this.timer = requireNonNull(timer, "timer");
    this.random = requireNonNull(random, "random");
    this.hello = new Hello(ClientId.random(random), process);
    changes.tryEmitNext(health);
  }

  /// Safe from any thread, as is all of [#health].
  Flux<SideCarHealth> changes() {
    return changes.asFlux();
  }

  SideCarHealth health() {
    return health;
  }

  /// Ends when the last connection was given up. Safe from any thread.
  Mono<Void> closed() {
    return closed.asMono();
  }

  /// Regions that the node must map.
  Map<Long, RegionSpec> regions() {
    return regions;
  }

  /// The connection, if calls may be made.
  @Nullable ClientSession healthy() {
    return health.isHealthy() ? talk : null;
  }

  /// The connection, if questions may be asked.
  @Nullable ClientSession greeted() {
    return health.phase() == Phase.CONNECTING ? null : talk;
  }

  /// For copies in flight; only while there is a connection that calls may be made on.
  Permits turns() {
    return requireNonNull(turns, "turns");
  }

  boolean isClosing() {
    return closing;
  }

  /// Makes the node unmap everything, closes the connection, and stays closed.
  void leave() {
    if (closing) {
      return;
    }
    closing = true;
    ClientSession last = talk;
    boolean greeted = health.phase() != Phase.CONNECTING;
    refuse(SideCarFailure.of(SideCarCode.CLOSED, SideCarFailure.NO_REGION, "closed"));
    say(Phase.CLOSED, null);
    if (last == null || !greeted) {
      hangUp(last);
      return;
    }
    timer.schedule(() -> mailbox.run(() -> hangUp(last)), options.timeToLive().toNanos(), TimeUnit.NANOSECONDS);
    last.ask(new Bye(), done -> hangUp(last), failure -> hangUp(last));
  }

  private void hangUp(@Nullable ClientSession last) {
    if (last != null) {
      last.end(SideCarFailure.of(SideCarCode.CLOSED, SideCarFailure.NO_REGION, "closed"));
    }
    changes.tryEmitComplete();
    closed.tryEmitEmpty();
  }

  void dial() {
    if (!closing) {
      ClientSession next = new ClientSession(mailbox, options, timer, new Progress());
      talk = next;
      dialer.dial(next);
    }
  }

  private void replay(ClientSession talking) {
    if (!closing && !talking.isOver()) {
      new RegionReplay(talking, regions.values(), () -> {
        failures = 0;
        say(Phase.HEALTHY, null);
      }, failure -> {
        say(Phase.REPLAYING, failure);
        again(() -> replay(talking));
      }).begin();
    }
  }

  private void again(Runnable attempt) {
    long nanos = options.backOff(++failures, random.nextDouble()).toNanos();
    timer.schedule(() -> mailbox.run(attempt), nanos, TimeUnit.NANOSECONDS);
  }

  private void say(Phase phase, @Nullable KvException failure) {
    if (!closing || phase == Phase.CLOSED) {
      health = new SideCarHealth(phase, failure);
      changes.tryEmitNext(health);
    }
  }

  private void refuse(KvException why) {
    Permits before = turns;
    turns = null;
    if (before != null) {
      before.close(() -> why);
    }
  }

  /// Changes of the state from a connection to healthy, and back.
  private final class Progress implements ClientSession.Listener {
    @Override
    public void begun(ClientSession talking) {
      talking.ask(hello, message -> {
        if (message instanceof Welcome welcome && welcome.maxCopies() > 0) {
          turns = new Permits("side-car copies", welcome.maxCopies(), options.maxWaiting());
          say(Phase.REPLAYING, null);
          replay(talking);
        } else {
          talking.end(SideCarFailure.of(SideCarCode.MALFORMED, SideCarFailure.NO_REGION, "greeted with " + message));
        }
      }, talking::end);
    }

    @Override
    public void ended(ClientSession talking, KvException why) {
      if (talking != talk) {
        return;
      }
      talk = null;
      refuse(SideCarFailure.of(SideCarCode.DOWN, SideCarFailure.NO_REGION, String.valueOf(why.getMessage())));
      say(Phase.CONNECTING, why);
      if (!closing) {
        again(KeptConnection.this::dial);
      }
    }
  }
}
