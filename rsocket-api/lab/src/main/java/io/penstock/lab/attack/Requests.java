package io.penstock.lab.attack;

import java.time.Duration;

/// Some connections, each with some requests that the node works on. Those that ended are made again, one a tick; all
/// are given up and made again from time to time.
final class Requests implements Attack {
  /// Number and frequency of requests.
  ///
  /// @param connections that set up correctly
  /// @param streams requests of each at a time
  /// @param renewal after which they are abandoned
  /// @param deaf whether they read nothing from their sockets after the request
  record Plan(int connections, int streams, Duration renewal, boolean deaf) {
    Plan(int connections, int streams, Duration renewal) {
      this(connections, streams, renewal, false);
    }
  }

  /// Makes a peer send one request.
  @FunctionalInterface
  interface Asking {
    void ask(Peer peer, Peer.Limits limits);
  }

  /// Ticks between two frames of a slow request: shorter than the silence that a node accepts.
  private static final int PACE_TICKS = Attack.ticks(Duration.ofSeconds(2));

  private final Plan plan;
  private final Asking asking;
  private final Crowd crowd;
  private int ticks;

  /// Requests that are only sent.
  static Requests of(Attackers attackers, Plan plan, Peer.Request request) {
    return new Requests(attackers, plan, (peer, limits) -> peer.ask(request, limits));
  }

  Requests(Attackers attackers, Plan plan, Asking asking) {
    this.plan = plan;
    this.asking = asking;
    this.crowd = new Crowd(attackers, plan.connections(), Peer::polite);
  }

  @Override
  public void tick() {
    boolean renews = ++ticks % Attack.ticks(plan.renewal()) == 0;
    for (Peer peer : crowd.gathered()) {
      Peer.Limits limits = peer.limits();
      if (limits != null) {
        ask(peer, limits, renews);
        if (ticks % PACE_TICKS == 0) {
          peer.goOn();
        }
      }
    }
  }

  private void ask(Peer peer, Peer.Limits limits, boolean renews) {
    if (renews) {
      peer.cancel();
    }
    int more = renews || !peer.hasAsked() ? plan.streams() : 1;
    for (; more > 0 && peer.streams() < plan.streams() && peer.isWritable(); more--) {
      asking.ask(peer, limits);
    }
    if (plan.deaf()) {
      peer.deafen();
    }
  }
}
