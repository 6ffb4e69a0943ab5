package io.penstock.cluster.infinispan;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.cluster.directory.ModelTier;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.Eventually;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.Member.Figures;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.infinispan.AdvancedCache;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// One cluster of three members on the loopback; the tests use different blocks.
final class ThreeMembersTest {
  private static int port;
  private static TestMember a;
  private static TestMember b;
  private static TestMember c;

  @BeforeAll
  static void form() {
    port = TestMember.freePort();
    a = TestMember.join("three", "a", port);
    b = TestMember.join("three", "b", TestMember.freePort(), port);
    c = TestMember.join("three", "c", TestMember.freePort(), port);
  }

  @AfterAll
  static void end() {
    List.of(c, b, a).forEach(TestMember::close);
  }

  @Test
  void members_knowEachOther_inOrderOfNames() {
    for (TestMember each : List.of(a, b, c)) {
      Eventually.holds(each.name + " knows all", () -> each.members().equals(List.of("a", "b", "c")));
    }
    assertThat(a.membership.members().get(1)).isEqualTo(new Member("b", 1, List.of("tcp://127.0.0.1:1"),
        "zone1/host-b", Member.State.UP, new Figures(0, 1000, 0)));
  }

  @Test
  void blocks_areLocatedByEachMember_withTheirLevels() {
    BlockKey key = key(1);
    a.tier.put(key, ModelTier.SSD);
    b.tier.put(key, ModelTier.DRAM, ModelTier.SSD);
    for (TestMember each : List.of(a, b, c)) {
      Eventually.holds(each.name + " locates", () -> each.holders(key).equals("{a=1, b=0}"));
    }

    a.tier.put(key, ModelTier.DRAM, ModelTier.SSD);
    Eventually.holds("a promoted it", () -> c.holders(key).equals("{a=0, b=0}"));
    b.tier.evict(key);
    Eventually.holds("b evicted it", () -> c.holders(key).equals("{a=0}"));
    a.tier.evict(key);
    Eventually.holds("no member has it", () -> c.holders(key).equals("{}"));
  }

  @Test
  void manyBlocks_areAnnouncedInBatches() {
    List<BlockKey> keys = Blocks.keys(Blocks.smallSpace(), 1000, 6000);
    keys.forEach(key -> c.tier.put(key, ModelTier.DRAM));
    Eventually.holds("all are located", () -> a.held(keys) == keys.size());
    keys.forEach(c.tier::evict);
    Eventually.holds("none is located", () -> b.held(keys) == 0);
  }

  @Test
  void figuresAndState_areTold() {
    b.figures.set(new Figures(500, 1000, 7));
    Eventually.holds("figures of b", () -> figures(c, "b").equals(new Figures(500, 1000, 7)));
    b.membership.tell(Member.State.DRAINING);
    Eventually.holds("b drains",
        () -> a.membership.members().stream().anyMatch(each -> each.state() == Member.State.DRAINING));
    b.figures.set(new Figures(0, 1000, 0));
    b.membership.tell(Member.State.UP);
    Eventually.holds("b is up", () -> figures(c, "b").equals(new Figures(0, 1000, 0)));
    Eventually.holds("b is up",
        () -> a.membership.members().stream().allMatch(each -> each.state() == Member.State.UP));
  }

  @Test
  void aMemberThatLeaves_isForgottenAtOnce_andTheOthersAnnounceItsSegmentsAgain() {
    List<BlockKey> keys = Blocks.keys(Blocks.smallSpace(), 10_000, 11_000);
    keys.forEach(key -> a.tier.put(key, ModelTier.DRAM));
    TestMember d = TestMember.join("three", "d", TestMember.freePort(), port);
    keys.forEach(key -> d.tier.put(key, ModelTier.DRAM));
    Eventually.holds("d is in", () -> c.holders(keys.get(0)).equals("{a=0, d=0}"));
    Eventually.holds("d has all", () -> d.held(keys) == keys.size());

    d.close();

    assertThat(a.members()).isEqualTo(List.of("a", "b", "c"));
    Eventually.holds("a has announced again what d kept", () -> b.held(keys) == keys.size());
    assertThat(keys).allSatisfy(key -> assertThat(b.holders(key)).isEqualTo("{a=0}"));
  }

  @Test
  void recordOfALaterRelease_isReadAsFarAsItIsKnown_andItsBlocksAreLocated() throws Exception {
    BlockKey key = key(2);
    c.tier.put(key, ModelTier.DRAM);
    Eventually.holds("c tells its block", () -> a.holders(key).equals("{c=0}"));
    AdvancedCache<byte[], byte[]> records = ((InfinispanMembership) c.membership).caches().members();
    byte[] name = "c".getBytes(StandardCharsets.UTF_8);
    MemberRecord own = MemberRecord.read(records.get(name));
    Member told = own.member();
    byte[] later = MemberRecordTest.LaterRelease.bytes(new MemberRecord(own.address(), new Member(told.name(),
        told.generation(), told.endpoints(), told.place(), told.state(), new Figures(777, 1000, 0)), own.reunions(),
        own.rounds(), own.tellings() + 1), "gpu");

    for (TestMember each : List.of(a, b)) {
      Eventually.holds(each.name + " reads it", () -> {
        records.put(name, later); // c may tell its own meanwhile
        return figures(each, "c").bytes() == 777 && each.holders(key).equals("{c=0}");
      });
    }
    c.figures.set(new Figures(1, 1000, 5));
    Eventually.holds("c tells as this release again", () -> figures(a, "c").equals(new Figures(1, 1000, 5)));
    c.figures.set(new Figures(0, 1000, 0));
    c.tier.evict(key);
    Eventually.holds("c has no block", () -> a.holders(key).equals("{}"));
  }

  @Test
  void ageOfARecord_isThatOfItsLastTelling() {
    b.figures.set(new Figures(400, 1000, 3));
    Eventually.holds("a hears of b", () -> figures(a, "b").bytes() == 400);

    assertThat(a.membership.toldAgo("b")).hasValueSatisfying(
        ago -> assertThat(ago).isBetween(Duration.ZERO, Duration.ofSeconds(11)));
    assertThat(a.membership.toldAgo("nowhere")).isEmpty();
    b.figures.set(new Figures(0, 1000, 0));
    Eventually.holds("b is as before", () -> figures(c, "b").equals(new Figures(0, 1000, 0)));
  }

  private static Figures figures(TestMember asked, String of) {
    return asked.membership.members().stream().filter(each -> each.name().equals(of)).findAny().orElseThrow()
        .figures();
  }

  private static BlockKey key(long number) {
    return Blocks.key(Blocks.smallSpace(), number);
  }
}
