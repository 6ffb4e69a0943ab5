package io.penstock.resp;

import static java.util.Objects.requireNonNull;

import io.penstock.block.CacheSpace;
import io.penstock.flow.ValueStore;
import io.penstock.node.config.DoorSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.door.DoorSpaces;
import io.penstock.node.door.DoorTerms;
import io.penstock.node.door.DoorUses;
import io.penstock.node.door.DoorValues;
import io.penstock.node.setting.Setting;
import io.penstock.stack.HostTier;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Eventually;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierListener;
import io.penstock.wire.security.Access;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToLongFunction;
import java.util.function.UnaryOperator;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// A door over tiers in memory, in this process. Its clock stands unless a test moves it. At the end no block is held.
final class OpenDoor implements AutoCloseable {
  private static final Duration SOON = Duration.ofSeconds(60);
  /// Begin of the name of the thread for what takes a while.
  static final String DECISIONS = "door-decisions";
  static final List<String> SIZES = List.of("262656", "66048", "4608");

  final AtomicLong wallMillis = new AtomicLong(1_000_000_000);
  final DoorUses uses = new DoorUses(use -> {});
  final DoorValues values;
  final RespServer server;
  private final LoopResources loops = LoopResources.create("door-test", 1, true);
  private final Scheduler timers = Schedulers.newSingle("door-timers", true);
  private final Scheduler decisions = Schedulers.newSingle(DECISIONS, true);
  private final List<HostTier> tiers = new ArrayList<>();
  final RespHouse house;

  /// @param between what the door sees of each tier
  OpenDoor(long bytes, UnaryOperator<BlockTier> between, Map<Setting<?>, String> settings, Access access) {
    Map<Setting<?>, String> flags = new HashMap<>(settings);
    flags.putIfAbsent(DoorSettings.RESP.listen(), "127.0.0.1:0");
    flags.put(DoorSettings.RESP.partBytes(), String.join(",", SIZES));
    NodeConfig config = NodeConfig.resolve(null, Map.of(), flags);
    List<BlockTier> seen = new ArrayList<>();
    for (int i = 0; i < SIZES.size(); i++) {
      int part = Integer.parseInt(SIZES.get(i));
      CacheSpace space = ValueStore.space("values", part, "");
      HostTier tier = new HostTier(space, Math.max(40, (bytes >> (2 * i)) / part),
          StackOptions.defaults(config.spaces().get(i).name()).withIngressBlocks(8).withExact(false),
          TierListener.noop());
      tiers.add(tier);
      seen.add(between.apply(tier));
    }
    InstantSource wall = () -> Instant.ofEpochMilli(wallMillis.get());
    DoorTerms.Threads threads = new DoorTerms.Threads(loops, timers, decisions, timers);
    DoorTerms.Clocks clocks = new DoorTerms.Clocks(wall, System::nanoTime);
    DoorSpaces spaces = DoorSpaces.of(DoorSettings.RESP, config, seen, threads, clocks, new HashMap<>());
    values = spaces.of().values();
    house = new RespHouse(new DoorTerms(config.get(DoorSettings.RESP.listen()).orElseThrow(), config, null, access,
        spaces, uses, 0x1234_5678_9abcL,
        threads, clocks));
    server = requireNonNull(RespServer.listen(house).block(SOON));
  }

  static OpenDoor open() {
    return of(Map.of());
  }

  static OpenDoor of(Map<Setting<?>, String> settings) {
    return new OpenDoor(16 << 20, tier -> tier, settings, Access.open());
  }

  int port() {
    return server.address().port();
  }

  RespClient connect() throws IOException {
    return new RespClient(port());
  }

  DoorUses.Figures figures() {
    List<DoorUses.Figures> all = List.copyOf(uses.figures().values());
    return new DoorUses.Figures(sum(all, DoorUses.Figures::hits), sum(all, DoorUses.Figures::misses),
        sum(all, DoorUses.Figures::finds), sum(all, DoorUses.Figures::writes), sum(all, DoorUses.Figures::drops),
        sum(all, DoorUses.Figures::refusals), sum(all, DoorUses.Figures::damages), sum(all, DoorUses.Figures::aborts),
        sum(all, DoorUses.Figures::bytesIn), sum(all, DoorUses.Figures::bytesOut));
  }

  private static long sum(List<DoorUses.Figures> all, ToLongFunction<DoorUses.Figures> of) {
    return all.stream().mapToLong(of).sum();
  }

  /// Waits until no request is under way.
  void settle() {
    Eventually.holds("no request is under way", () -> house.underWay() == 0);
  }

  /// Blocks in memory that are neither visible nor freed.
  long held() {
    long held = 0;
    for (HostTier tier : tiers) {
      held += tier.arena().claimedSlots() - requireNonNull(tier.stat().block(SOON)).blocks();
    }
    return held;
  }

  /// Visible blocks.
  long blocks() {
    return tiers.stream().mapToLong(tier -> requireNonNull(tier.stat().block(SOON)).blocks()).sum();
  }

  @Override
  public void close() {
    server.close().block(SOON);
    Eventually.holds("no block is held", () -> held() == 0);
    Mono.when(tiers.stream().map(BlockTier::close).toList()).block(SOON);
    loops.disposeLater(Duration.ZERO, SOON).block(SOON);
    decisions.dispose();
    timers.dispose();
  }
}
