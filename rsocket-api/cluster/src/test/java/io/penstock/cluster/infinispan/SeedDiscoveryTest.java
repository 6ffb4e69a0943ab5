package io.penstock.cluster.infinispan;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.testkit.Eventually;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import org.jgroups.Event;
import org.jgroups.JChannel;
import org.jgroups.ObjectMessage;
import org.jgroups.PhysicalAddress;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Channels of members without the engine above; `a` is the seed of `b` and `c`.
final class SeedDiscoveryTest {
  private final List<JChannel> all = new ArrayList<>();
  private JChannel b;
  private JChannel c;

  @BeforeEach
  void form() throws Exception {
    int port = TestMember.freePort();
    for (String name : List.of("a", "b", "c")) {
      List<Seed> seeds = all.isEmpty() ? List.of() : List.of(new Seed("127.0.0.1", port));
      JChannel channel = new ChannelPlan(BoundHost.of("127.0.0.1"), all.isEmpty() ? port : 0, seeds,
          InetAddress::getAllByName, null, ChannelTimes.DEFAULTS).channel(name);
      channel.connect("found");
      all.add(channel);
    }
    b = all.get(1);
    c = all.get(2);
    Eventually.holds("all see all", () -> all.stream().allMatch(each -> each.getView().size() == 3));
    Eventually.holds("b and c know each other", () -> place(b, c) != null && place(c, b) != null);
  }

  @AfterEach
  void end() {
    all.reversed().forEach(JChannel::close);
  }

  @Test
  void membersThatMissedEachOthersPlace_learnItFromTheSeed() throws Exception {
    forget(b, c);
    forget(c, b);
    assertThat(place(b, c)).isNull();
    assertThat(place(c, b)).isNull();

    b.send(new ObjectMessage(c.getAddress(), "to c"));

    Eventually.holds("b knows c", () -> place(b, c) != null);
    Eventually.holds("c knows b", () -> place(c, b) != null);
  }

  /// As if `at` had never heard of `other`.
  private static void forget(JChannel at, JChannel other) {
    at.getProtocolStack().<SeedDiscovery>findProtocol(SeedDiscovery.class).clearDynamicHostList();
    MemberTransport transport = at.getProtocolStack().findProtocol(MemberTransport.class);
    transport.getLogicalAddressCache().remove(other.getAddress(), true);
    transport.clearConnections();
  }

  private static PhysicalAddress place(JChannel at, JChannel of) {
    return (PhysicalAddress) at.down(new Event(Event.GET_PHYSICAL_ADDRESS, of.getAddress()));
  }
}
