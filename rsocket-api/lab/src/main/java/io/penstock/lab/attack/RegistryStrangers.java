package io.penstock.lab.attack;

import io.netty.buffer.ByteBuf;
import io.penstock.block.BlockLayout;
import io.penstock.block.Plane;
import io.penstock.wire.protocol.Routes;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/// Peers that claim and register a rank that another one holds, forge its leaving, send names with escape sequences,
/// and register as many ranks as they can. A node without a registry refuses all of it.
final class RegistryStrangers implements Attack {
  /// Far above any generation that a registry gives.
  private static final long FAR_GENERATION = 1L << 62;
  /// Ranks that a stranger registers at each turn.
  private static final int AT_A_TIME = 32;
  /// Number of names that strangers choose from.
  private static final int INSTANCES = 1 << 12;
  private static final String ESCAPES = "host\u001b[2J\u001b[31m";
  private static final int SECRET_BYTES = 32;

  private final Attackers attackers;
  private final Map<String, Object> manifest;
  private final RandomGenerator random;
  private final Crowd owners;
  private final Crowd strangers;
  private final byte[] ownSecret;
  /// Whether the owner has its rank.
  private boolean owned;

  RegistryStrangers(Attackers attackers, Target target, RandomGenerator random) {
    this.attackers = attackers;
    this.random = random;
    this.ownSecret = secret();
    this.manifest = manifest(target.layout());
    this.owners = new Crowd(attackers, 1, Peer::polite);
    this.strangers = new Crowd(attackers, 2, Peer::polite);
  }

  @Override
  public void tick() {
    owners.gathered().stream().filter(owner -> owner.limits() != null && owner.isWritable()).forEach(owner -> {
      if (owner.hasAsked()) {
        ask(owner, Routes.HEARTBEAT, Map.of("who", who("owned", 1), "leaving", false, "secret", ownSecret));
      } else {
        register(owner, "owned", 1, "127.0.0.1", ownSecret, answer -> owned = true);
      }
    });
    strangers.gathered().stream().filter(peer -> peer.limits() != null && peer.isWritable()).forEach(this::play);
  }

  private byte[] secret() {
    byte[] secret = new byte[SECRET_BYTES];
    random.nextBytes(secret);
    return secret;
  }

  private void play(Peer stranger) {
    if (owned) {
      register(stranger, "owned", FAR_GENERATION, "127.0.0.1", secret(),
          answer -> attackers.breach("a rank of another under a later generation"));
      register(stranger, "owned", 2, "127.0.0.1", secret(), answer -> attackers.breach("a rank of another"));
      ask(stranger, Routes.CLAIM, Map.of("instance", "owned", "rank", 0, "least", FAR_GENERATION, "secret", secret()));
      ask(stranger, Routes.HEARTBEAT, Map.of("who", who("owned", 1), "leaving", true, "secret", secret()));
    }
    register(stranger, "stranger-" + random.nextInt(INSTANCES), 1, ESCAPES, secret(),
        answer -> attackers.breach("a host name with escape sequences"));
    for (int i = 0; i < AT_A_TIME; i++) {
      register(stranger, "flood-" + random.nextInt(), 1, "127.0.0.1", secret(), answer -> {});
    }
  }

  private void ask(Peer peer, String route, Map<String, Object> message) {
    peer.ask((stream, limits) -> Frames.ask(stream, route, message), Peer.NONE);
  }

  private void register(Peer peer, String instance, long generation, String host, byte[] secret,
      Peer.Answered answered) {
    peer.ask((stream, limits) -> {
      peer.whenAnswered(stream, answered);
      return frame(stream, instance, generation, host, secret);
    }, Peer.NONE);
  }

  private ByteBuf frame(int stream, String instance, long generation, String host, byte[] secret) {
    return Frames.ask(stream, Routes.REGISTER, Map.of("side", "PREFILL", "who", who(instance, generation),
        "version", 1, "manifest", manifest, "host", host, "port", 1, "secret", secret));
  }

  private static Map<String, Object> who(String instance, long generation) {
    return Map.of("instance", instance, "rank", 0, "generation", generation);
  }

  private static Map<String, Object> manifest(BlockLayout layout) {
    List<Map<String, Object>> planes = layout.planes().stream().map(RegistryStrangers::plane).toList();
    Map<String, Object> group = Map.of("tokens", layout.tokens(), "order", layout.order().name(), "planes", planes,
        "layers", IntStream.range(0, layout.layers()).boxed().toList(), "windowTokens", 0);
    return Map.of("model", "stranger", "groups", List.of(group), "tp", 1, "pp", 1, "dp", 1, "pcp", 1, "dcp", 1,
        "stageLayers", List.of(layout.layers()), "draftLayers", 0);
  }

  private static Map<String, Object> plane(Plane plane) {
    return Map.of("kind", plane.kind().name(), "type", plane.type().name(), "heads", plane.heads(), "width",
        plane.width());
  }
}
