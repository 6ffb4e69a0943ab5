package io.penstock.cluster.infinispan;

import io.penstock.testkit.Eventually;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jgroups.Event;
import org.jgroups.JChannel;
import org.jgroups.ObjectMessage;
import org.jgroups.PhysicalAddress;
import org.jgroups.protocols.DISCARD;
import org.jgroups.protocols.TP;
import org.jgroups.stack.ProtocolStack;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Channels of members without the engine above.
final class SeedDiscoveryTest {
  private final List<JChannel> all = new ArrayList<>();

  @AfterEach
  void end() {
    all.reversed().forEach(JChannel::close);
  }

  @Test
  void membersThatMissedEachOthersPlace_learnItFromTheSeed() throws Exception {
    int seed = TestMember.freePort();
    join("a", seed);
    JChannel b = join("b", 0, seed);
    JChannel c = join("c", 0, seed);
    forgetEachOther(b, c);

    b.send(new ObjectMessage(c.getAddress(), "to c"));

    Eventually.holds("b knows c", () -> place(b, c) != null);
    Eventually.holds("c knows b", () -> place(c, b) != null);
  }

  @Test
  void aMemberThatIsUnknownToTheNextMakerOfViews_missesTheDeadOneToo() throws Exception {
    int first = TestMember.freePort();
    int seed = TestMember.freePort();
    JChannel a = join("a", first);
    JChannel b = join("b", 0, first, seed);
    join("c", seed, first);
    JChannel d = join("d", 0, first, seed);
    forgetEachOther(b, d);

    a.getProtocolStack().insertProtocol(new DISCARD().discardAll(true), ProtocolStack.Position.ABOVE, TP.class);
    a.getProtocolStack().<MemberTransport>findProtocol(MemberTransport.class).stop();

    Eventually.holds("b makes a view without a", () -> !b.getView().containsMember(a.getAddress()));
    Eventually.holds("d has it", () -> d.getView().getViewId().equals(b.getView().getViewId()));
  }

  private JChannel join(String name, int port, int... seeds) throws Exception {
    JChannel channel = new ChannelPlan(BoundHost.of("127.0.0.1"), port,
        Arrays.stream(seeds).mapToObj(seed -> new Seed("127.0.0.1", seed)).toList(), InetAddress::getAllByName, null,
        ChannelTimes.DEFAULTS).channel(name);
    channel.connect("found");
    all.add(channel);
    Eventually.holds("all see all", () -> all.stream().allMatch(each -> each.getView().size() == all.size()));
    return channel;
  }

  private static void forgetEachOther(JChannel one, JChannel other) {
    Eventually.holds("they know each other", () -> place(one, other) != null && place(other, one) != null);
    forget(one, other);
    forget(other, one);
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
