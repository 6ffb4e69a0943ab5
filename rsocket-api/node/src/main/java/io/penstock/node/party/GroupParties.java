package io.penstock.node.party;

import static java.util.Objects.requireNonNull;

import io.penstock.flow.KvGroup;
import io.penstock.flow.KvGroups;
import io.penstock.node.link.StreamTimes;
import io.penstock.node.tiers.Endings;
import io.penstock.node.tiers.TierPlan;
import io.penstock.tier.Presence;
import io.penstock.tier.TierStat;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// The parties of a replay of a model with several KV groups: for each group a tier, and decode and prefill connected
/// to it, as [LoopbackParties]. A request continues after the longest prefix that all groups can continue after. Decode
/// then reads of each group the blocks that this needs, and prefill puts the blocks behind it.
///
/// The groups are asked before they are read, so requests come one at a time.
public final class GroupParties implements Parties {
  private final List<Lane> lanes;
  private final KvGroups rules;

  /// One group.
  ///
  /// @param name of the group
  /// @param rule what a request needs of it
  /// @param flow of its blocks
  /// @param tiers that keep its blocks
  public record Plan(String name, KvGroup rule, FlowPlan flow, TierPlan tiers) {
    public Plan {
      requireNonNull(name, "name");
      requireNonNull(rule, "rule");
      requireNonNull(flow, "flow");
      requireNonNull(tiers, "tiers");
    }
  }

  /// @param step ids of a trace from one block of the group to the next
  private record Lane(Plan plan, int step, TraceKeys keys, LoopbackParties parties) {
    /// Ids of the blocks of the group.
    List<Long> ids(List<Long> ids) {
      return step == 1
          ? ids
          : IntStream.range(0, ids.size() / step).mapToObj(i -> ids.get((i + 1) * step - 1)).toList();
    }

    Mono<BitSet> present(List<Long> ids) {
      List<Long> own = ids(ids);
      return own.isEmpty()
          ? Mono.just(new BitSet())
          : Flux.fromIterable(TraceKeys.parts(keys.of(own), TraceKeys.PART_BLOCKS))
              .concatMap(part -> parties.connected().decoding().tier().contains(part), 0).map(Presence::bits)
              .collectList().map(Lane::joined);
    }

    /// Bits of the parts of a question.
    private static BitSet joined(List<BitSet> parts) {
      BitSet all = new BitSet();
      for (int i = 0; i < parts.size(); i++) {
        int from = i * TraceKeys.PART_BLOCKS;
        parts.get(i).stream().forEach(bit -> all.set(from + bit));
      }
      return all;
    }

    /// Reads the blocks that continuing at `position` needs, and those behind it, which prefill puts.
    Mono<Delivery> read(List<Long> ids, int position) {
      List<Long> own = ids(ids);
      BitSet wanted = plan.rule().needed(position);
      wanted.set(position / plan.rule().blockTokens(), Math.max(position / plan.rule().blockTokens(), own.size()));
      List<Long> read = wanted.stream().mapToObj(own::get).toList();
      return parties.decode().read(read, answer -> parties.prefill().put(answer.admitted()))
          .doOnNext(this::requireWhole);
    }

    private void requireWhole(Delivery delivery) {
      long asked = (long) delivery.blocks() * plan.flow().space().layout().blockBytes();
      if (delivery.bytesDelivered() != asked) {
        throw new IllegalStateException("bytes delivered of group %s must be %d, those of the blocks asked for (was %d)"
            .formatted(plan.name(), asked, delivery.bytesDelivered()));
      }
    }

    Mono<PartyStat> stat() {
      return parties.stat().map(stat -> stat.withLedger(new LedgerState(stat.ledger().misses(),
          stat.ledger().levels().stream().map(this::named).toList())));
    }

    private TierStat.Level named(TierStat.Level level) {
      return new TierStat.Level(levelName(level.name(), plan.name()), level.medium(), level.capacityBlocks(),
          level.blocks(), level.storedBlocks(), level.hits(), level.arrived(), level.health(), level.copies(),
          level.disk());
    }
  }

  private GroupParties(List<Lane> lanes) {
    this.lanes = lanes;
    this.rules = new KvGroups(lanes.stream().map(lane -> lane.plan().rule()).toList());
  }

  /// Name of a level of one group in a report, such as `dram sliding`.
  public static String levelName(String level, String group) {
    return level + " " + group;
  }

  /// Starts the tiers of all groups and connects their parties.
  ///
  /// @param blockTokens tokens of an id of the trace
  /// @param timers for time limits of the nodes
  public static Mono<GroupParties> open(List<Plan> groups, int blockTokens, Scheduler timers, LongSupplier nanoClock) {
    return Mono.defer(() -> {
      List<Lane> lanes = new ArrayList<>();
      return Flux.fromIterable(groups).concatMap(plan -> {
        TraceKeys keys = new TraceKeys(plan.flow().space().id(), 0);
        return LoopbackParties.open(plan.flow(), plan.tiers(), keys, timers, nanoClock)
            .doOnNext(parties -> lanes.add(new Lane(plan, plan.rule().blockTokens() / blockTokens, keys, parties)));
      }).then(Mono.fromSupplier(() -> new GroupParties(List.copyOf(lanes))))
          .onErrorResume(error -> Endings.after(error, new GroupParties(List.copyOf(lanes)).close()));
    });
  }

  @Override
  public String description() {
    return lanes.getFirst().parties().description() + ", a tier for each of "
        + lanes.stream().map(lane -> lane.plan().name()).collect(Collectors.joining(", "));
  }

  @Override
  public Map<String, StreamTimes.Times> times() {
    Map<String, StreamTimes.Times> times = new TreeMap<>();
    lanes.forEach(lane -> lane.parties().times()
        .forEach((route, took) -> times.put(route + " " + lane.plan().name(), took)));
    return times;
  }

  @Override
  public Map<String, String> troubles() {
    Map<String, String> troubles = new TreeMap<>();
    lanes.forEach(lane -> lane.parties().troubles()
        .forEach((level, trouble) -> troubles.put(levelName(level, lane.plan().name()), trouble)));
    return troubles;
  }

  @Override
  public DecodeParty decode() {
    return new Decode();
  }

  @Override
  public PrefillParty prefill() {
    return new Prefill();
  }

  @Override
  public Mono<PartyStat> stat() {
    return Flux.fromIterable(lanes).concatMap(Lane::stat).reduce((one, other) -> one.plus(other).withLedger(
        one.ledger().and(other.ledger())));
  }

  @Override
  public Mono<Void> close() {
    return Endings.inOrder(lanes.reversed().stream().map(lane -> lane.parties().close()).toList());
  }

  private final class Decode implements DecodeParty {
    /// Each group has blocks of its own to put, which its own prefill party does: `supply` is not called.
    @Override
    public Mono<Delivery> read(List<Long> ids, Function<Answer, Mono<Void>> supply) {
      int blockTokens = lanes.getFirst().plan().rule().blockTokens() / lanes.getFirst().step();
      return Flux.fromIterable(lanes).concatMap(lane -> lane.present(ids)).collectList().flatMap(present -> {
        int position = rules.hit(Math.multiplyExact(ids.size(), blockTokens), present);
        return Flux.fromIterable(lanes).flatMap(lane -> lane.read(ids, position)).collectList()
            .map(parts -> Delivery.ofGroups(ids.size(), position / blockTokens, parts));
      });
    }

    @Override
    public Mono<PartyStat> stat() {
      return Flux.fromIterable(lanes).concatMap(lane -> lane.parties().decode().stat()).reduce(PartyStat::plus);
    }
  }

  private final class Prefill implements PrefillParty {
    @Override
    public Mono<Void> put(List<Long> ids) {
      return Flux.fromIterable(lanes).concatMap(lane -> lane.parties().prefill().put(lane.ids(ids))).then();
    }

    @Override
    public Mono<PartyStat> stat() {
      return Flux.fromIterable(lanes).concatMap(lane -> lane.parties().prefill().stat()).reduce(PartyStat::plus);
    }
  }
}
