package io.penstock.examples.incidents.ours;

import io.penstock.TransientKvException;
import io.penstock.disagg.request.DecodeConnector;
import io.penstock.disagg.request.Ending;
import io.penstock.disagg.request.FailurePolicy;
import io.penstock.disagg.request.GroupBlocks;
import io.penstock.disagg.request.HeldBlocks;
import io.penstock.disagg.request.LifecycleListener;
import io.penstock.disagg.request.LifecycleOptions;
import io.penstock.disagg.request.MoveTicket;
import io.penstock.disagg.request.PrefillConnector;
import io.penstock.disagg.request.ReceiveOrder;
import io.penstock.disagg.request.ReceiveOrder.Shard;
import io.penstock.disagg.request.Received;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/// A move ends with its last byte, on the stream that carries the bytes: no other message says so. A link that breaks
/// fails the move, and the move is tried again.
public final class FailedMove extends RequestRig {
  private final PrefillConnector prefill =
      new PrefillConnector(LifecycleOptions.defaults(), LifecycleListener.noop(), time.scheduler());
  private final DecodeConnector decode = new DecodeConnector(READER_0.since(1), LifecycleOptions.defaults(),
      (to, signal) -> linkUp() ? prefill.accept(signal) : Mono.error(new TransientKvException("link is down")),
      LifecycleListener.noop(), time.scheduler(), time.random("jitter"));
  private boolean linkUp = true;
  private int landed;
  private int blocks;
  private @Nullable MoveTicket ticket;
  private @Nullable MonoSink<Void> move;
  private @Nullable Received received;
  private long endedNanos;

  private boolean linkUp() {
    return linkUp;
  }

  @Override
  void take(RecordedEvent input) {
    switch (input.kind()) {
      case FLOW -> begin(input.keys().size());
      case LINK -> {
        linkUp = input.number(1) == 0;
        MonoSink<Void> broken = move;
        if (!linkUp && broken != null) { // bytes and their end share the link
          fact(Kind.FLOW_ERROR, 1, "move failed: link is down");
          move = null;
          broken.error(new TransientKvException("link is down"));
        }
      }
      case FLOW_NEXT -> land(input.keys().size());
      case TIMER -> {
        // No request waits any more
      }
      default -> throw new IllegalArgumentException("input must be one of a room (was " + input + ")");
    }
  }

  private void begin(int count) {
    blocks = count;
    prefill.open("room 17", Set.of(READER_0), HeldBlocks.none());
    Shard shard = new Shard(PREFILL, 1, GroupBlocks.range(0, count), this::move);
    decode.receive(new ReceiveOrder("room 17", List.of(shard), List.of(), HeldBlocks.none(), false,
        FailurePolicy.retry(5), Duration.ofMinutes(5))).subscribe(end -> {
          received = end;
          endedNanos = time.nanos();
          fact(Kind.FLOW_COMPLETE, 1, "decode: " + end.ending());
        });
  }

  private Mono<Void> move(MoveTicket attempt) {
    return Mono.create(sink -> {
      ticket = attempt;
      landed = 0;
      if (!linkUp) {
        sink.error(new TransientKvException("link is down"));
        return;
      }
      attempt.accepted();
      move = sink;
      if (attempt.attempt() > 1) { // the schedule has no bytes for a retry: the source sends all of them in 5 ms
        time.scheduler().schedule(() -> land(blocks), 5, TimeUnit.MILLISECONDS);
      }
    });
  }

  private void land(int count) {
    MoveTicket attempt = ticket;
    MonoSink<Void> under = move;
    if (attempt == null || under == null || !attempt.admits(PREFILL.generation())) {
      fact(Kind.FLOW_ERROR, 1, "bytes of a move that has ended: not written");
      return;
    }
    landed += count;
    attempt.landed(count);
    fact(Kind.FLOW_NEXT, 1, landed + " of " + blocks + " blocks landed, attempt " + attempt.attempt());
    if (landed == blocks) {
      move = null;
      under.success();
    }
  }

  @Override
  public @Nullable String violation() {
    boolean over = prefill.state("room 17").isEmpty();
    return over && received == null && blocks > 0 && decode.state("room 17").isEmpty()
        ? "both sides have forgotten room 17 without an end"
        : null;
  }

  @Override
  public boolean isGood() {
    return received != null && received.ending() == Ending.READY;
  }

  @Override
  public String ending() {
    Received end = received;
    return end == null
        ? "waits"
        : "%s after %d ms and %d retries%s".formatted(end.ending(), endedNanos / 1_000_000, end.retries(),
            end.ending() == Ending.READY ? ", prefill released the blocks then" : "");
  }

  @Override
  public void close() {
    // No read is under way, so nothing is waited for
    decode.close().block();
    prefill.close().block();
  }
}
