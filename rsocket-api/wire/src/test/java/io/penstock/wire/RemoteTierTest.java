package io.penstock.wire;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.SlabArena;
import io.penstock.stack.HostTier;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.BlockTierContract;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.TierHoldsContract;
import io.penstock.tier.BlockTier;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierListener;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.RemoteTier;
import io.penstock.wire.server.KvServer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/// A node over a socket keeps the contract of a tier.
final class RemoteTierTest extends BlockTierContract implements TierHoldsContract {
  private final Map<BlockTier, HostTier> behind = new HashMap<>();
  private static final List<KvServer> servers = new ArrayList<>();
  private static final List<SlabArena> arenas = new ArrayList<>();

  @Override
  protected BlockTier openTier(int capacityBlocks) {
    HostTier tier = new HostTier(space,
        capacityBlocks,
        StackOptions.defaults("dram").withIngressBlocks(RESERVE_BLOCKS).withEventLogSize(EVENT_LOG_SIZE),
        TierListener.noop());
    KvServer server = requireNonNull(KvServer.bind(Link.PENSTOCK.server(), tier, WireNode.options(RESERVE_BLOCKS),
        new ByteBudget("ingress", 1 << 20, 64), Schedulers.single()).block(WireNode.PATIENCE));
    servers.add(server);
    SlabArena arena = new SlabArena("client", space.layout(), 64, 64);
    arenas.add(arena);
    KvClient client = requireNonNull(KvClient.connect(Link.PENSTOCK.client(Link.PENSTOCK.port(server)),
        WireNode.clientOptions(RESERVE_BLOCKS), space, arena, new ByteBudget("client", 1 << 20, 64))
        .block(WireNode.PATIENCE));
    RemoteTier remote = new RemoteTier(client, space);
    behind.put(remote, tier);
    return remote;
  }

  @Override
  protected void corruptStored(BlockTier tier, BlockKey key) {
    super.corruptStored(requireNonNull(behind.get(tier)), key);
  }

  @Override
  protected boolean reservesAtOnce() {
    return false;
  }

  @Override
  protected boolean answersAtOnce() {
    return false;
  }

  @Override
  protected String receiptTier(BlockTier tier) {
    return "dram";
  }

  @Test
  void close_failsEverythingAfter_andEndsEvents() {
    BlockTier tier = openTier(4);
    CompletableFuture<List<TierEvent>> events = tier.events(0).collectList().toFuture();
    tier.stat().block(WireNode.PATIENCE);
    tier.close().block(WireNode.PATIENCE);
    tier.close().block(WireNode.PATIENCE);
    assertEquals(List.of(), events.orTimeout(20, TimeUnit.SECONDS).join());
    List<BlockKey> keys = Blocks.keys(space, 0, 1);
    BlockScope scope = new BlockScope();
    for (Mono<?> call : List.of(tier.match(keys), tier.contains(keys), tier.lease(keys, OnMiss.SKIP, scope),
        tier.get(keys, scope).next(),
        tier.reserve(keys, scope), tier.remove(keys), tier.events(0).next(), tier.stat())) {
      assertThrows(TierClosedException.class, () -> call.block(WireNode.PATIENCE));
    }
  }

  /// Each call crosses a socket.
  @Override
  protected int cancelledRuns() {
    return 200;
  }

  @Override
  protected int stressRounds() {
    return 100;
  }

  @AfterAll
  static void close() {
    servers.forEach(server -> server.close().block(WireNode.PATIENCE));
    arenas.forEach(SlabArena::close);
  }
}
