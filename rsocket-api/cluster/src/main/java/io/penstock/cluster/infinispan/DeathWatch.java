package io.penstock.cluster.infinispan;

import java.io.IOException;
import java.net.ConnectException;
import java.net.Socket;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jgroups.Address;
import org.jgroups.Event;
import org.jgroups.PhysicalAddress;
import org.jgroups.View;
import org.jgroups.conf.ClassConfigurator;
import org.jgroups.protocols.VERIFY_SUSPECT2;
import org.jgroups.stack.IpAddress;
import org.jgroups.stack.Protocol;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// Finds members whose process is gone. Each member watches all others by itself, so many that die at once are found
/// as fast as one.
///
/// When the connection to a member closes, or there is none, it is asked for another. A host that refuses it twice has
/// no process at this port any more: the system answers, so a process that is only busy, or stopped, never looks dead.
/// A host that does not answer at all is left to the heartbeats. A member that is dead stays so, for an address of the
/// engine is never used again, and its removal from the view is asked for until the view lacks it: a request may come
/// to nothing while a view is made, or parts of a cluster meet.
///
/// It stands right above the transport.
final class DeathWatch extends Protocol {
  private static final short PROTOCOL = 1704;
  private static final long TICK_MILLIS = 500;
  private static final int CONNECT_MILLIS = 500;
  private static final long PAUSE_NANOS = 100_000_000;
  private static final int REFUSALS = 2;
  private static final int MOST_LOOKS = 3;
  private static final Logger LOG = LoggerFactory.getLogger(DeathWatch.class);

  static {
    ClassConfigurator.addProtocol(PROTOCOL, DeathWatch.class);
  }

  private final MemberTransport transport;
  private final Set<Address> dead = ConcurrentHashMap.newKeySet();
  private final Set<Address> looking = ConcurrentHashMap.newKeySet();
  private final Disposable.Swap ticks = Disposables.swap();
  private volatile List<Address> members = List.of();
  private volatile Runnable onDeath = () -> {};
  private volatile @Nullable Scheduler clock;

  /// What a host answers to one that wants a connection.
  private enum Answer {
    TAKEN,
    REFUSED,
    NONE
  }

  DeathWatch(MemberTransport transport) {
    this.transport = transport;
    transport.onClosed(this::closed);
  }

  /// @param listener runs when a member was found dead; must be quick
  void onDeath(Runnable listener) {
    onDeath = listener;
  }

  /// Members of the view that are dead, and those that the last view removed.
  Set<UUID> dead() {
    Set<UUID> all = new HashSet<>();
    for (Address each : dead) {
      if (each instanceof org.jgroups.util.UUID uuid) {
        all.add(new UUID(uuid.getMostSignificantBits(), uuid.getLeastSignificantBits()));
      }
    }
    return all;
  }

  @Override
  public void start() throws Exception {
    super.start();
    Scheduler single = Schedulers.newSingle("cluster-watch", true);
    clock = single;
    ticks.update(single.schedulePeriodically(this::tick, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS));
  }

  @Override
  public void stop() {
    ticks.update(Disposables.disposed());
    Scheduler single = clock;
    if (single != null) {
      single.dispose();
    }
    members = List.of();
    dead.clear();
    super.stop();
  }

  @Override
  public @Nullable Object down(Event event) {
    Object result = down_prot.down(event);
    if (event.getType() == Event.VIEW_CHANGE) {
      View view = event.getArg();
      enter(List.of(view.getMembersRaw()));
    }
    return result;
  }

  /// Forgets those that left with an earlier view. One that leaves now is remembered: those above learn it later.
  private void enter(List<Address> now) {
    List<Address> before = members;
    dead.retainAll(before);
    members = now;
  }

  private void closed(Address peer) {
    members.stream().filter(member -> peer.equals(physical(member))).forEach(this::look);
  }

  private void tick() {
    members.forEach(this::look);
    suspect();
  }

  private void look(Address member) {
    if (!member.equals(local_addr) && !dead.contains(member) && looking.add(member)) {
      PhysicalAddress place = physical(member);
      if (place instanceof IpAddress ip && !transport.isConnected(place)) {
        Thread.ofVirtual().name("cluster-look-" + ip).start(() -> {
          try {
            lookAt(member, ip);
          } finally {
            looking.remove(member);
          }
        });
      } else {
        looking.remove(member);
      }
    }
  }

  private void lookAt(Address member, IpAddress place) {
    int refusals = 0;
    for (int i = 0; i < MOST_LOOKS && members.contains(member) && !transport.isConnected(place); i++) {
      if (i > 0) {
        LockSupport.parkNanos(PAUSE_NANOS);
      }
      switch (ask(place)) {
        case REFUSED -> {
          if (++refusals == REFUSALS) {
            died(member);
            return;
          }
        }
        case TAKEN -> refusals = 0;
        case NONE -> {
          return;
        }
      }
    }
  }

  private static Answer ask(IpAddress place) {
    try (Socket socket = new Socket()) {
      socket.connect(place.getSocketAddress(), CONNECT_MILLIS);
      return Answer.TAKEN;
    } catch (ConnectException e) {
      return Answer.REFUSED;
    } catch (IOException e) {
      return Answer.NONE;
    }
  }

  private void died(Address member) {
    dead.add(member);
    if (members.contains(member)) {
      LOG.info("{} sees that the process of {} is gone", local_addr, member);
      onDeath.run();
      suspect();
    } else {
      dead.remove(member);
    }
  }

  /// Asks for a view without the dead, past [VERIFY_SUSPECT2]. May take as long as a view takes to be made.
  private void suspect() {
    List<Address> all = new ArrayList<>(dead);
    all.retainAll(members);
    Protocol verify = stack.findProtocol(VERIFY_SUSPECT2.class);
    if (!all.isEmpty() && verify != null) {
      Thread.ofVirtual().name("cluster-suspect").start(() -> {
        try {
          verify.getUpProtocol().up(new Event(Event.SUSPECT, all));
        } catch (RuntimeException e) {
          LOG.info("{} asks again for a view without {}: {}", local_addr, all, e.toString());
        }
      });
    }
  }

  private @Nullable PhysicalAddress physical(Address member) {
    return (PhysicalAddress) down_prot.down(new Event(Event.GET_PHYSICAL_ADDRESS, member));
  }
}
