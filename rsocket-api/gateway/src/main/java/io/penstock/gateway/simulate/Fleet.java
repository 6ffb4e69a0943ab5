package io.penstock.gateway.simulate;

import static java.util.Objects.requireNonNull;

import io.penstock.gateway.choice.Choice;
import io.penstock.gateway.choice.Medium;
import io.penstock.gateway.choice.Policy;
import io.penstock.gateway.choice.Prompt;
import io.penstock.gateway.choice.PromptBlocks;
import io.penstock.gateway.choice.Router;
import io.penstock.gateway.simulate.ModelInstance.Work;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;

/// Plays requests on model instances in virtual time, under one policy. For one thread.
final class Fleet {
  private static final double NANOS = 1e9;

  private final FleetOptions options;
  private final SimulatedPolicy policy;
  private final int blockTokens;
  private final Router router;
  private final List<ModelInstance> instances = new ArrayList<>();
  private final PriorityQueue<Event> events = new PriorityQueue<>();
  private final List<Double> firstTokenMillis = new ArrayList<>();
  private long nowNanos;
  private long made;
  private long blocks;
  private long hitBlocks;

  /// @param order of events of one moment
  private record Event(long atNanos, long order, Runnable action) implements Comparable<Event> {
    @Override
    public int compareTo(Event other) {
      int byTime = Long.compare(atNanos, other.atNanos);
      return byTime != 0 ? byTime : Long.compare(order, other.order);
    }
  }

  /// A request of the trace.
  @SuppressWarnings("ArrayRecordComponent") // not changed
  record Request(long atMillis, long tokens, long outputTokens, long... names) {}

  Fleet(FleetOptions options, SimulatedPolicy policy, int blockTokens) {
    this.options = options;
    this.policy = policy;
    this.blockTokens = blockTokens;
    Router.Options routing = policy.tells()
        ? Router.Options.defaults()
        : new Router.Options((int) Math.min(Integer.MAX_VALUE, options.capacityBlocks()),
            Router.Options.defaults().expectedNanos(), Router.Options.defaults().sessions());
    this.router = new Router(policy.policy() == null ? Policy.PREFIX : policy.policy(),
        routing, () -> nowNanos, new SplittableRandom(options.seed()));
    ModelInstance pooled = new ModelInstance(options.capacityBlocks() * options.instances());
    for (int i = 0; i < options.instances(); i++) {
      router.add("instance-" + i, policy.tells());
      instances.add(policy.isPooled() ? new ModelInstance(pooled) : new ModelInstance(options.capacityBlocks()));
    }
  }

  /// Plays all requests to their ends.
  ///
  /// @param oracleHits hit blocks of the oracle; 0 if this is the oracle
  FleetResult play(List<Request> requests, long oracleHits) {
    for (Request request : requests) {
      at((long) (request.atMillis() * 1e6 / options.speed()), () -> arrive(request));
    }
    for (Event event = events.poll(); event != null; event = events.poll()) {
      nowNanos = event.atNanos();
      event.action().run();
    }
    double[] times = firstTokenMillis.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    int most = instances.stream().mapToInt(instance -> instance.requests).max().orElse(0);
    return new FleetResult(policy.name(), blocks, hitBlocks,
        oracleHits == 0 ? 1 : (double) hitBlocks / oracleHits, at(times, 0.5), at(times, 0.99),
        requests.isEmpty() ? 0 : (double) most * options.instances() / requests.size());
  }

  private static double at(double[] sorted, double share) {
    return sorted.length == 0 ? 0 : sorted[(int) Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  }

  private void at(long nanos, Runnable action) {
    events.add(new Event(nanos, made++, action));
  }

  private void arrive(Request request) {
    Choice choice = null;
    int place;
    if (policy.policy() == null) {
      place = richest(request.names());
    } else {
      long all = options.instances() == Long.SIZE ? -1L : (1L << options.instances()) - 1;
      choice = requireNonNull(router.choose(
          new Prompt(request.names(), blockTokens, request.tokens(), request.tokens() * Integer.BYTES, null), all, 0));
      place = choice.prefill();
    }
    ModelInstance instance = instances.get(place);
    instance.requests++;
    instance.waiting.add(new Work(request.names(), request.tokens(), request.outputTokens(), nowNanos, choice));
    start(place);
  }

  /// The instance whose cache has most of the prompt; of equals the one with the least work.
  private int richest(long[] names) {
    int best = 0;
    int most = -1;
    for (int i = 0; i < instances.size(); i++) {
      int has = instances.get(i).prefix(names);
      if (has > most || (has == most && load(i) < load(best))) {
        best = i;
        most = has;
      }
    }
    return best;
  }

  private int load(int place) {
    ModelInstance instance = instances.get(place);
    return instance.waiting.size() + (instance.isBusy ? 1 : 0);
  }

  private void start(int place) {
    ModelInstance instance = instances.get(place);
    Work work = instance.isBusy ? null : instance.waiting.poll();
    if (work == null) {
      return;
    }
    instance.isBusy = true;
    int hit = instance.prefix(work.names());
    blocks += work.names().length;
    hitBlocks += hit;
    long known = Math.min(work.tokens(), (long) hit * blockTokens);
    double seconds = (work.tokens() - known) / options.tokensPerSecond() + known / options.loadTokensPerSecond();
    at(nowNanos + (long) (seconds * NANOS), () -> end(place, work));
  }

  private void end(int place, Work work) {
    ModelInstance instance = instances.get(place);
    instance.isBusy = false;
    firstTokenMillis.add((nowNanos - work.arrivedNanos()) / 1e6);
    ModelInstance.Change change = instance.use(work.names());
    if (policy.tells()) {
      at(nowNanos + options.lag().toNanos(), () -> {
        change.stored().forEach(name -> router.index().add(place, Medium.DEVICE, name));
        change.evicted().forEach(name -> router.index().remove(place, Medium.DEVICE, name));
      });
    }
    Choice choice = work.choice();
    if (choice != null) {
      choice.computed();
      at(nowNanos + work.outputTokens() * options.perToken().toNanos(), choice::close);
    }
    start(place);
  }

  /// Requests of a trace, each block named by its id.
  static long[] names(List<Long> ids) {
    long[] names = new long[ids.size()];
    Arrays.setAll(names, i -> PromptBlocks.ofTraceId(ids.get(i)));
    return names;
  }
}
