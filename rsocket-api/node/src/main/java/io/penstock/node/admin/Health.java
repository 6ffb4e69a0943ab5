package io.penstock.node.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.penstock.PenstockVersion;
import io.penstock.node.door.NodeDoors;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.TierInfo;
import io.penstock.tier.TierStat;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// The answer of `/health`.
///
/// @param state `starting`, `opening`, `ready` or `draining`
/// @param version of the running code
/// @param degraded whether a level is not active, or a transport failed; the node serves by the others
/// @param tiers figures of each tier that answered
/// @param transports each that was wanted
/// @param doors figures of each door for clients of other protocols; absent if there is none
/// @param problem why the node is not healthy although it serves, else null
/// @param warnings what an operator should mend, although the node serves
record Health(String state, String version, boolean degraded, List<TierFacts> tiers,
    List<TransportState> transports, @JsonInclude(JsonInclude.Include.NON_EMPTY) List<NodeDoors.Facts> doors,
    @Nullable String problem, List<String> warnings) {
  /// Figures of a tier, for a probe or a person.
  ///
  /// @param capacityBlocks null if unbounded
  /// @param levels fastest first; one if the tier is of one level
  public record TierFacts(String name, String medium, long blocks, @Nullable Long capacityBlocks, long bytes, long hits,
      long misses,
      long evicted, long corrupt, List<LevelFacts> levels) {
    static TierFacts of(TierInfo info, TierStat stat) {
      return new TierFacts(info.name(), lower(info.medium()), stat.blocks(), bounded(info.capacityBlocks()),
          stat.bytes(), stat.hits(),
          stat.misses(), stat.evicted(), stat.corrupt(), stat.levels().stream().map(LevelFacts::of).toList());
    }
  }

  /// Figures of one level of a tier.
  ///
  /// @param state `active`, `degraded` (gives blocks and takes none) or `off`
  /// @param problem reason, null if the level is healthy
  /// @param blocks that are on no faster level
  /// @param storedBlocks blocks whose bytes are on this level, also those that a faster level repeats: all of them on a
  ///     disk that is written through
  /// @param capacityBlocks null if unbounded
  public record LevelFacts(String name, String medium, String state, @Nullable String problem, long blocks,
      long storedBlocks, @Nullable Long capacityBlocks, long hits) {
    static LevelFacts of(TierStat.Level level) {
      return new LevelFacts(level.name(), lower(level.medium()), lower(level.health().state()),
          level.health().problem(), level.blocks(), level.storedBlocks(),
          bounded(level.capacityBlocks()), level.hits());
    }
  }

  static Health of(NodeState state, List<TierFacts> tiers, List<TransportState> transports,
      List<NodeDoors.Facts> doors, List<String> warnings) {
    return new Health(lower(state), PenstockVersion.current(),
        tiers.stream().flatMap(tier -> tier.levels().stream())
            .anyMatch(level -> !level.state().equals(lower(StoreHealth.State.ACTIVE)))
            || !transports.stream().allMatch(TransportState::works),
        tiers, transports, doors, state == NodeState.OPENING ? "disk level is opening" : null, warnings);
  }

  static Health failed(NodeState state, List<TransportState> transports, List<NodeDoors.Facts> doors, String problem,
      List<String> warnings) {
    return new Health(lower(state), PenstockVersion.current(), false, List.of(), transports, doors, problem, warnings);
  }

  private static @Nullable Long bounded(long capacityBlocks) {
    return capacityBlocks == Long.MAX_VALUE ? null : (Long) capacityBlocks;
  }

  private static String lower(Enum<?> word) {
    return word.name().toLowerCase(Locale.ROOT);
  }

  /// Whether clients should be sent here.
  boolean isUp() {
    return state.equals("ready") && problem == null;
  }
}
