package io.penstock.cluster.infinispan;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.cluster.directory.ModelTier;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.Eventually;
import java.time.Duration;
import java.util.List;
import org.infinispan.factories.GlobalComponentRegistry;
import org.infinispan.remoting.transport.Transport;
import org.infinispan.remoting.transport.jgroups.JGroupsTransport;
import org.jgroups.protocols.DISCARD;
import org.jgroups.protocols.TP;
import org.jgroups.stack.ProtocolStack;
import org.junit.jupiter.api.Test;

/// A member whose messages are dropped, both ways, until the others miss it, and then no longer.
final class SplitTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final List<BlockKey> KEYS = Blocks.keys(Blocks.smallSpace(), 0, 600);

  @Test
  void afterASplit_theDirectoryNamesWhatIsThere_andNothingThatWentMeanwhile() throws Exception {
    int port = TestMember.freePort();
    try (TestMember a = TestMember.join(TestMember.QUICK, "split", "a", port, null);
        TestMember b = TestMember.join(TestMember.QUICK, "split", "b", TestMember.freePort(), null, port);
        TestMember c = TestMember.join(TestMember.QUICK, "split", "c", TestMember.freePort(), null, port)) {
      List<TestMember> all = List.of(a, b, c);
      all.forEach(member -> KEYS.forEach(key -> member.tier.put(key, ModelTier.DRAM)));
      Eventually.holds("all know all", () -> c.everyHolderOf(KEYS).equals(List.of("{a=0, b=0, c=0}")));

      DISCARD cut = cut(c);
      assertThat(a.held(KEYS)).as("names that a and b keep, while c is silent and not missed yet").isGreaterThan(200);
      assertThat(a.membership.unanswered()).as("questions to c").isPositive();
      Eventually.holds("c is alone", PATIENCE, () -> c.members().equals(List.of("c")));
      Eventually.holds("c is missed", PATIENCE, () -> a.members().equals(List.of("a", "b")));
      KEYS.subList(0, 200).forEach(c.tier::evict);
      KEYS.subList(200, 400).forEach(a.tier::evict);
      Eventually.holds("c knows itself",
          () -> c.everyHolderOf(KEYS.subList(200, 600)).equals(List.of("{c=0}")));
      Eventually.holds("b knows its part", () -> b.everyHolderOf(KEYS.subList(200, 400)).equals(List.of("{b=0}")));

      cut.discardAll(false);
      for (TestMember member : all) {
        Eventually.holds(member.name + " sees all", PATIENCE,
            () -> member.members().equals(List.of("a", "b", "c")));
        Eventually.holds("what c evicted is gone",
            () -> member.everyHolderOf(KEYS.subList(0, 200)).equals(List.of("{a=0, b=0}")));
        Eventually.holds("what a evicted is gone",
            () -> member.everyHolderOf(KEYS.subList(200, 400)).equals(List.of("{b=0, c=0}")));
        Eventually.holds("the rest is there",
            () -> member.everyHolderOf(KEYS.subList(400, 600)).equals(List.of("{a=0, b=0, c=0}")));
      }
      assertThat(a.membership.members()).hasSize(3);
    }
  }

  private static DISCARD cut(TestMember member) throws Exception {
    EmbeddedCaches caches = ((InfinispanMembership) member.membership).caches();
    Transport transport = GlobalComponentRegistry.componentOf(caches.manager(), Transport.class);
    DISCARD discard = new DISCARD().discardAll(true);
    ((JGroupsTransport) transport).getChannel().getProtocolStack()
        .insertProtocol(discard, ProtocolStack.Position.ABOVE, TP.class);
    return discard;
  }
}
