package io.penstock.lab.simulate;

import io.penstock.KvException;
import io.penstock.TransientKvException;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.lab.simulate.Scenario.Ending;
import io.penstock.lab.simulate.Scenario.ReaderPlan;
import io.penstock.lab.simulate.Scenario.RequestPlan;
import io.penstock.lab.simulate.Scenario.WriterPlan;
import io.penstock.lab.simulate.Scenario.Writing;
import io.penstock.recording.Recorder;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Receipt;
import io.penstock.wire.client.get.RemoteLease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/// One request from its question to its end: a decode party leases blocks, a prefill party puts the missing ones, every
/// byte is compared, and blocks lost by a fault are requested again, a bounded number of times.
final class RequestRun {
  private static final int PASSES = 12;
  private static final Duration FIRST_PAUSE = Duration.ofMillis(5);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);

  /// End of a request.
  ///
  /// @param hits of its first decision; -1 if there was none
  /// @param error reason why it was given up, null if it was not
  record Result(int number, boolean delivered, boolean left, int passes, int hits, @Nullable Throwable error) {}

  /// Parts of the simulation that a request uses.
  ///
  /// @param recorder of what the parties send and get; null if the run is not recorded
  record Place(Scenario scenario, SimulatedParty decoder, SimulatedParty prefiller, SimulatedNode node,
      Scheduler scheduler, Verdict verdict, @Nullable Recorder recorder) {
    <T> Flux<T> recorded(String flow, SimulatedParty party, Flux<T> stream) {
      return recorder == null ? stream : stream.transform(recorder.named(flow + " " + party.name()));
    }
  }

  private final RequestPlan plan;
  private final Place place;
  private final SliceCheck check;
  private final Sinks.Empty<Void> leave = Sinks.empty();
  private @Nullable RemoteLease lease;
  private int passes;
  private int hits = -1;
  private int slices;
  private boolean left;

  RequestRun(RequestPlan plan, Place place, List<BlockKey> keys) {
    this.plan = plan;
    this.place = place;
    this.check = new SliceCheck(place.scenario().layout(), keys, place.verdict());
  }

  /// Always ends with a result.
  Mono<Result> run() {
    return Mono.defer(() -> {
      if (plan.reader().ending() == Ending.LEAVES_BY_CLOCK) {
        place.scheduler().schedule(this::leave, plan.reader().after(), TimeUnit.MICROSECONDS);
      }
      return pass();
    });
  }

  private void leave() {
    left = true;
    leave.tryEmitEmpty();
  }

  private Mono<Result> pass() {
    passes++;
    Mono<Void> pass = Mono.using(BlockScope::new, scope -> place.decoder().client()
        .flatMap(client -> client.lease(check.ask(), OnMiss.ADMIT, scope)).flatMap(this::receive), BlockScope::close)
        .timeout(SimulatedParty.PATIENCE, place.scheduler())
        .takeUntilOther(leave.asMono());
    return pass.materialize().flatMap(end -> {
      Throwable error = end.getThrowable();
      if (left) {
        return drained();
      } else if (check.isComplete() && error == null) {
        return Mono.just(new Result(plan.number(), true, false, passes, hits, null));
      }
      return error == null ? again(null) : failed(error);
    });
  }

  private Mono<Result> failed(Throwable error) {
    if (error instanceof TimeoutException) {
      place.verdict().require(place.scenario().faults().corrupts(), Invariant.EVERY_STREAM_ENDS,
          "request " + plan.number()
              + " did not end within " + SimulatedParty.PATIENCE);
      place.decoder().disconnect();
      place.prefiller().disconnect();
    } else if (!(error instanceof KvException)) {
      place.verdict().broken(Invariant.EVERY_STREAM_ENDS, "request " + plan.number() + " ended with " + error, error);
    }
    return again(error);
  }

  private Mono<Result> again(@Nullable Throwable error) {
    place.verdict().note("request " + plan.number() + " pass " + passes + " " + error);
    if (passes == PASSES || place.scenario().calm()) {
      return Mono.just(new Result(plan.number(), false, false, passes, hits, error));
    }
    Duration pause = FIRST_PAUSE.multipliedBy(1L << Math.min(passes, 20));
    return Mono.delay(pause.compareTo(LONGEST_PAUSE) < 0 ? pause : LONGEST_PAUSE, place.scheduler())
        .flatMap(now -> pass());
  }

  /// The reader has left: the node must release its resources too, unless the connection was lost.
  private Mono<Result> drained() {
    Result result = new Result(plan.number(), false, true, passes, hits, null);
    RemoteLease open = lease;
    if (open == null) {
      return Mono.just(result);
    }
    return open.drained().timeout(SimulatedParty.PATIENCE, place.scheduler()).materialize().map(end -> {
      Throwable error = end.getThrowable();
      boolean typed = error == null || error instanceof KvException
          || (error instanceof TimeoutException && place.scenario().faults().corrupts());
      if (!typed) {
        place.verdict().broken(Invariant.EVERY_STREAM_ENDS,
            "drain of request " + plan.number() + " ended with " + error, error);
      }
      return result;
    });
  }

  private Mono<Void> receive(RemoteLease answered) {
    lease = answered;
    if (hits < 0) {
      hits = answered.hits().count();
    }
    if (plan.reader().ending() == Ending.LEAVES_WHEN_FOUND) {
      leave();
    }
    List<BlockKey> admitted = new ArrayList<>();
    answered.admitted().bits().stream().forEach(position -> admitted.add(check.key(position)));
    Mono<Void> received = Mono.using(BlockScope::new,
        scope -> read(place.recorded("load", place.decoder(), answered.slices(scope))), BlockScope::close);
    return admitted.isEmpty() ? received : Mono.when(received, Mono.defer(() -> supply(admitted)));
  }

  private Mono<Void> read(Flux<LayerSlice> stream) {
    ReaderPlan reader = plan.reader();
    return SlowReader.read(stream, reader.demand(), reader.pause(), place.scheduler(), this::accept);
  }

  private void accept(LayerSlice slice) {
    check.accept(slice);
    if (plan.reader().ending() == Ending.LEAVES_AFTER_SLICES && ++slices == plan.reader().after()) {
      leave();
    }
  }

  private Mono<Void> supply(List<BlockKey> keys) {
    WriterPlan writer = passes == 1 ? plan.writer() : new WriterPlan(Writing.WHOLE, 0);
    SimulatedParty prefiller = place.prefiller();
    return prefiller.client()
        .flatMap(
            client -> place.recorded("store", prefiller,
                client.put(keys, new PlannedSource(prefiller, place.scenario().layout(), writer))).collectList())
        .doOnNext(this::checkReceipts).then();
  }

  /// Control messages carry no checksum of their own: behind a link that turns bytes over, a receipt may arrive
  /// damaged.
  private void checkReceipts(List<Receipt> receipts) {
    if (place.scenario().faults().corrupts()) {
      return;
    }
    for (Receipt receipt : receipts) {
      place.verdict().require(place.node().vouchesFor(receipt), Invariant.RECEIPTS_TRUE, receipt.toString());
    }
  }

  /// Failure of a writer on purpose.
  static final class WriterGoneException extends TransientKvException {
    private static final long serialVersionUID = 1L;

    WriterGoneException() {
      super("the writer died as planned");
    }
  }
}
