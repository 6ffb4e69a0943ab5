package io.penstock.wire.cluster.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.SliceShape;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionUse;
import io.penstock.stack.HostTier;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Medium;
import io.penstock.tier.PutSource;
import io.penstock.tier.Receipt;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.tier.TierInfo;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.ForwardingTier;
import io.penstock.wire.cluster.Located;
import io.penstock.wire.cluster.Member;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/// What a put costs at the client, beside what the members do.
@Timeout(120)
final class PutCostTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final int ROUNDS = 31;
  private static final int PUTS = 2_000;

  private final HostTier none = new HostTier(SPACE, 1, StackOptions.defaults("dram"), TierListener.noop());

  /// Members that have nothing, and take all at no cost.
  private final class Members implements Nodes {
    private final List<Member> members;
    private final BlockTier taking = new ForwardingTier(none) {
      @Override
      public Flux<Receipt> put(List<BlockKey> keys, PutTerms terms, SliceShape shape, PutSource source) {
        return Flux.empty();
      }
    };

    /// @param bytes that each of them has, of 6,400
    private Members(int count, long bytes) {
      members = IntStream.range(0, count).mapToObj(i -> new Member("node-" + i, 1, List.of("127.0.0.1:1"), "",
          Member.State.UP, new Member.Figures(bytes, 6_400, 0, 1_000 + i))).toList();
    }

    @Override
    public Mono<Located> locate(List<BlockKey> keys) {
      return Mono
          .fromSupplier(() -> Located.of(List.of(), keys.stream().map(key -> List.<Located.Holder>of()).toList()));
    }

    @Override
    public Mono<List<Member>> members() {
      return Mono.just(members);
    }

    @Override
    public Mono<BlockTier> node(Member member) {
      return Mono.just(taking);
    }

    @Override
    public Mono<Void> close() {
      return none.close();
    }
  }

  @Test
  @Tag("proof")
  void aPut_costsTheSame_amongTenMembersAndAThousand() {
    for (long bytes : new long[] {0, 6_400}) {
      double few = nanos(10, bytes);
      double many = nanos(1_000, bytes);
      assertThat(many / few).as("ns a put among 10: %.0f, among 1,000: %.0f", few, many).isLessThan(1.5);
    }
    none.close().block();
  }

  /// CPU of a put, the median of many rounds.
  private double nanos(int count, long bytes) {
    Members members = new Members(count, bytes);
    ClusterTier tier = new ClusterTier(new TierInfo("cluster test", Medium.REMOTE, SPACE, 64), members, "",
        new SplittableRandom(1), Schedulers.immediate(), Schedulers.immediate());
    List<BlockKey> keys = Blocks.keys(SPACE, 0, 8);
    PutSource source = window -> Flux.empty();
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long[] rounds = new long[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
      long began = threads.getCurrentThreadCpuTime();
      for (int i = 0; i < PUTS; i++) {
        PutTerms terms = i % 4 == 0
            ? PutTerms.plain().withSession(SessionUse.of(SessionId.of(new byte[] {(byte) i, (byte) (i >> 8)})))
            : PutTerms.plain();
        tier.put(keys, terms, SliceShape.defaults(), source).blockLast();
      }
      rounds[round] = threads.getCurrentThreadCpuTime() - began;
    }
    return LongStream.of(rounds).sorted().skip(ROUNDS / 2).findFirst().orElseThrow() / (double) PUTS;
  }
}
