package io.penstock.device.sidecar;

import static java.util.Objects.requireNonNull;

import io.penstock.KvException;
import io.penstock.block.BudgetExhaustedException;
import io.penstock.block.Permits;
import io.penstock.device.sidecar.Message.Bye;
import io.penstock.device.sidecar.Message.Copy;
import io.penstock.device.sidecar.Message.Hello;
import io.penstock.device.sidecar.Message.Known;
import io.penstock.device.sidecar.Message.Query;
import io.penstock.device.sidecar.Message.Register;
import io.penstock.device.sidecar.Message.Unregister;
import io.penstock.device.sidecar.Message.Welcome;
import io.penstock.device.sidecar.SideCarHealth.Phase;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// The side of a process without devices. Keeps a connection to the node, and has it map all that was registered again whenever there is a new
/// one.
///
/// | | |
/// |---|---|
/// | healthy | connected, and the node has all regions; only then calls are made, else they end at once with [SideCarCode#DOWN] |
/// | register | idempotent; [SideCarCode#MISMATCH] if the region is known as another one |
/// | copy | waits for its turn in a bounded line; completes when all bytes have arrived; copies of a call have no order |
/// | unregister | refuses new copies of the region, waits for those in flight, then the node unmaps it; idempotent |
/// | lost connection | calls under way end with [SideCarCode#DOWN]: a copy may have been made or not |
/// | cancel | nobody hears the result; the node does it all the same, so memory is free for other use only after [#unregister] or [#close] |
/// | threads | results are sent on a thread of the connection; consumers that are slow hop off it |
///
/// The memory itself stays the caller's, mapped and open until it was unregistered. Safe from any thread.
public final class SideCarClient {
  private final Mailbox mailbox = new Mailbox();
  private final SideCarClientOptions options;
  private final Dialer dialer;
  private final Scheduler timer;
  private final RandomGenerator random;
  private final Hello hello;
  private final Sinks.Many<SideCarHealth> changes = Sinks.many().replay().latest();
  private final Sinks.Empty<Void> closed = Sinks.empty();
  private volatile SideCarHealth health = new SideCarHealth(Phase.CONNECTING, null);
  /// All below are the mailbox's.
  private final Map<Long, SharedRegion> regions = new LinkedHashMap<>();
  private @Nullable Conversation talk;
  private @Nullable Permits turns;
  private int failures;
  private boolean closing;

  SideCarClient(SideCarClientOptions options, Dialer dialer, Scheduler timer, RandomGenerator random, int process) {
    this.options = requireNonNull(options, "options");
    this.dialer = requireNonNull(dialer, "dialer");
    this.timer = requireNonNull(timer, "timer");
    this.random = requireNonNull(random, "random");
    this.hello = new Hello(ClientId.random(random), process);
    changes.tryEmitNext(health);
    mailbox.run(this::dial);
  }

  /// Begins to connect to the node that listens on `path`, and goes on trying until it is closed. Has a thread that keeps time, and two for
  /// its connection.
  public static SideCarClient open(Path path, SideCarClientOptions options) {
    Scheduler timer = Schedulers.newSingle("penstock-sidecar-client-time", true);
    SideCarClient client = new SideCarClient(options, new SocketDialer(path), timer, new SecureRandom(), (int) ProcessHandle.current().pid());
    client.closed.asMono().subscribe(nothing -> { }, error -> { }, timer::dispose);
    return client;
  }

  /// How it is, from now on; the latest only, for those who are slow.
  public Flux<SideCarHealth> health() {
    return changes.asFlux().onBackpressureLatest();
  }

  public boolean isHealthy() {
    return health.isHealthy();
  }

  /// How it is now.
  public SideCarHealth status() {
    return health;
  }

  /// Has the node map `region`, now and after every loss of the connection.
  public Mono<Void> register(SharedRegion region) {
    requireNonNull(region, "region");
    return healthy(SideCarFailure.NO_REGION, (talking, sink) -> {
      SharedRegion known = regions.get(region.id());
      if (known != null && !known.equals(region)) {
        sink.error(SideCarFailure.of(SideCarCode.MISMATCH, region.id(), region.bytes() + " bytes, before " + known.bytes()));
        return;
      }
      talking.ask(new Register(region), answer(sink, done -> {
        regions.put(region.id(), region);
        sink.success();
      }));
    });
  }

  /// Has the node make all of `copies`.
  ///
  /// @throws IllegalArgumentException if there are none, or more than [RegionCopy#MAX_ELEMENTS]
  public Mono<Void> copy(List<RegionCopy> copies) {
    Copy request = new Copy(List.copyOf(copies));
    if (copies.isEmpty() || copies.size() > RegionCopy.MAX_ELEMENTS) {
      throw new IllegalArgumentException("copies must be 1 to " + RegionCopy.MAX_ELEMENTS + " (was " + copies.size() + ")");
    }
    return healthy(SideCarFailure.NO_REGION, (talking, sink) -> {
      Permits permits = requireNonNull(turns);
      AtomicBoolean cancelled = new AtomicBoolean();
      try {
        Permits.Ticket ticket = permits.acquire(1, () -> mailbox.run(() -> {
          if (cancelled.get()) {
            permits.release(1);
          } else {
            talking.ask(request, new Turn(permits, sink));
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

  /// Has the node let go of a region; completes when it is unmapped there.
  public Mono<Void> unregister(long region) {
    return healthy(region, (talking, sink) -> talking.ask(new Unregister(region), answer(sink, done -> {
      regions.remove(region);
      sink.success();
    })));
  }

  /// Asks the node what it has of a region, also while regions are being replayed; [RegionState#UNREACHABLE] if there is nobody to ask.
  public Mono<RegionState> state(long region) {
    return Mono.create(sink -> mailbox.run(() -> {
      if (talk == null || health.phase() == Phase.CONNECTING) {
        sink.success(RegionState.UNREACHABLE);
        return;
      }
      talk.ask(new Query(region), new Answer() {
        @Override
        public void answered(Message message) {
          sink.success(message instanceof Known known ? known.state() : RegionState.UNREACHABLE);
        }

        @Override
        public void failed(KvException failure) {
          sink.success(RegionState.UNREACHABLE);
        }
      });
    }));
  }

  /// Ends copies in flight, has the node unmap everything, and hangs up; if the node does not answer, after the time to live. Lazy and
  /// idempotent.
  public Mono<Void> close() {
    return Mono.defer(() -> {
      mailbox.run(this::leave);
      return closed.asMono();
    });
  }

  private void leave() {
    if (closing) {
      return;
    }
    closing = true;
    Conversation last = talk;
    boolean greeted = health.phase() != Phase.CONNECTING;
    refuse(SideCarFailure.of(SideCarCode.CLOSED, SideCarFailure.NO_REGION, "closed"));
    say(Phase.CLOSED, null);
    if (last == null || !greeted) {
      hangUp(last);
      return;
    }
    timer.schedule(() -> mailbox.run(() -> hangUp(last)), options.timeToLive().toNanos(), TimeUnit.NANOSECONDS);
    last.ask(new Bye(), new Answer() {
      @Override
      public void answered(Message message) {
        hangUp(last);
      }

      @Override
      public void failed(KvException failure) {
        hangUp(last);
      }
    });
  }

  private void hangUp(@Nullable Conversation last) {
    if (last != null) {
      last.end(SideCarFailure.of(SideCarCode.CLOSED, SideCarFailure.NO_REGION, "closed"));
    }
    changes.tryEmitComplete();
    closed.tryEmitEmpty();
  }

  private void dial() {
    if (!closing) {
      Conversation next = new Conversation(mailbox, options, timer, new Progress());
      talk = next;
      dialer.dial(next);
    }
  }

  private void replay(Conversation talking) {
    if (!closing && !talking.isOver()) {
      new Replay(talking, regions.values(), () -> {
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

  private interface Call<T> {
    void make(Conversation talking, MonoSink<T> sink);
  }

  private Mono<Void> healthy(long region, Call<Void> call) {
    return Mono.create(sink -> mailbox.run(() -> {
      Conversation talking = talk;
      if (closing) {
        sink.error(SideCarFailure.of(SideCarCode.CLOSED, region, "closed"));
      } else if (talking == null || !health.isHealthy()) {
        sink.error(SideCarFailure.of(SideCarCode.DOWN, region, health.toString()));
      } else {
        call.make(talking, sink);
      }
    }));
  }

  private static Answer answer(MonoSink<Void> sink, Consumer<Message> done) {
    return new Answer() {
      @Override
      public void answered(Message message) {
        done.accept(message);
      }

      @Override
      public void failed(KvException failure) {
        sink.error(failure);
      }
    };
  }

  /// A copy in flight.
  private record Turn(Permits permits, MonoSink<Void> sink) implements Answer {
    @Override
    public void answered(Message message) {
      permits.release(1);
      sink.success();
    }

    @Override
    public void failed(KvException failure) {
      permits.release(1);
      sink.error(failure);
    }
  }

  /// From a connection to being healthy, and back.
  private final class Progress implements Conversation.Listener {
    @Override
    public void begun(Conversation talking) {
      talking.ask(hello, new Answer() {
        @Override
        public void answered(Message message) {
          if (message instanceof Welcome welcome && welcome.maxCopies() > 0) {
            turns = new Permits("side-car copies", welcome.maxCopies(), options.maxWaiting());
            say(Phase.REPLAYING, null);
            replay(talking);
          } else {
            talking.end(SideCarFailure.of(SideCarCode.MALFORMED, SideCarFailure.NO_REGION, "greeted with " + message));
          }
        }

        @Override
        public void failed(KvException failure) {
          talking.end(failure);
        }
      });
    }

    @Override
    public void ended(Conversation talking, KvException why) {
      if (talking != talk) {
        return;
      }
      talk = null;
      refuse(SideCarFailure.of(SideCarCode.DOWN, SideCarFailure.NO_REGION, String.valueOf(why.getMessage())));
      say(Phase.CONNECTING, why);
      if (!closing) {
        again(SideCarClient.this::dial);
      }
    }
  }
}
