package io.penstock.examples.incidents.ours;

import static java.util.Objects.requireNonNull;

import io.penstock.disagg.request.DecodeConnector;
import io.penstock.disagg.request.FailurePolicy;
import io.penstock.disagg.request.GroupBlocks;
import io.penstock.disagg.request.HeldBlocks;
import io.penstock.disagg.request.LifecycleListener;
import io.penstock.disagg.request.LifecycleOptions;
import io.penstock.disagg.request.MoveTicket;
import io.penstock.disagg.request.PrefillConnector;
import io.penstock.disagg.request.ReceiveOrder;
import io.penstock.disagg.request.ReceiveOrder.Shard;
import io.penstock.disagg.request.ShardMover;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// A cancel is acknowledged after the drain: memory of decode is free when no write to it is under way.
public final class DrainedCancel extends RequestRig {
  private static final String REQUEST = "request 1";

  private final PrefillConnector prefill =
      new PrefillConnector(LifecycleOptions.defaults(), LifecycleListener.noop(), time.scheduler());
  private final DecodeConnector decode = new DecodeConnector(READER_0.since(1), LifecycleOptions.defaults(),
      (to, signal) -> prefill.accept(signal), LifecycleListener.noop(), time.scheduler(), time.random("jitter"));
  /// Completes when the posted write has landed.
  private final Sinks.Empty<Void> written = Sinks.empty();
  private @Nullable Disposable receiving;
  private @Nullable MoveTicket ticket;
  private boolean posted;
  private boolean underWay;
  private boolean free = true;
  private boolean waits;
  private String ending = "not decoded";

  /// A mover whose write cannot be called back, as those of a network card.
  private final class Card implements ShardMover {
    @Override
    public Mono<Void> move(MoveTicket attempt) {
      return Mono.create(sink -> {
        ticket = attempt;
        attempt.accepted();
        written.asMono().subscribe(nothing -> {}, sink::error, sink::success);
      });
    }

    @Override
    public Mono<Void> drained(MoveTicket attempt) {
      return posted ? written.asMono() : Mono.empty();
    }
  }

  @Override
  void take(RecordedEvent input) {
    switch (input.kind()) {
      case FLOW -> begin(input);
      case LINK -> {
        posted = requireNonNull(ticket).admits(PREFILL.generation());
        underWay = posted;
      }
      case FLOW_CANCEL -> {
        requireNonNull(receiving).dispose();
        fact(Kind.FLOW_CANCEL, 1, free ? "memory is free" : "memory is kept until the write has landed");
      }
      case FLOW_NEXT -> {
        underWay = false;
        fact(Kind.MOVED, 1, "the write lands in memory of request 1");
        written.tryEmitEmpty();
        if (free && waits) {
          waits = false;
          fact(Kind.RESERVED, 2, "the memory is free: request 2 takes it");
        }
      }
      case TIMER -> {
        ending = waits ? "request 2 waits" : "request 2 decodes on its own blocks, after the old write had landed";
        fact(Kind.FLOW_COMPLETE, 2, ending);
      }
      default -> throw new IllegalArgumentException("input must be one of a transfer (was " + input + ")");
    }
  }

  private void begin(RecordedEvent input) {
    if (input.flow() == 1) {
      free = false;
      prefill.open(REQUEST, Set.of(READER_0), posted());
      Shard shard = new Shard(PREFILL, 1, GroupBlocks.range(0, input.keys().size()), new Card());
      receiving = decode.receive(new ReceiveOrder(REQUEST, List.of(shard), List.of(),
          () -> Mono.fromRunnable(() -> {
            free = true;
            fact(Kind.REMOVED, 1, "memory is given up");
          }), false, FailurePolicy.fail(), Duration.ofMinutes(5))).subscribe();
    } else if (free) {
      fact(Kind.RESERVED, 2, "memory of request 1");
    } else {
      waits = true;
      fact(Kind.ANSWER, 2, "no memory is free: it waits");
    }
  }

  /// Blocks of prefill, which a posted write reads.
  private HeldBlocks posted() {
    return () -> posted ? written.asMono() : Mono.empty();
  }

  @Override
  public @Nullable String violation() {
    return free && underWay ? "memory is free while a write to it is under way" : null;
  }

  @Override
  public boolean isGood() {
    return free && !waits && !underWay;
  }

  @Override
  public String ending() {
    return ending;
  }

  @Override
  public void close() {
    written.tryEmitEmpty();
    // No read is under way, so nothing is waited for
    decode.close().block();
    prefill.close().block();
  }
}
