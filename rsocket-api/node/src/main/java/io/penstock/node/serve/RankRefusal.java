package io.penstock.node.serve;

import io.penstock.disagg.RankId;
import io.penstock.disagg.registry.RankTakenException;
import io.penstock.node.cli.RefusedException;
import io.penstock.node.config.RankSettings;
import io.penstock.node.setting.Setting;
import io.penstock.node.shape.LayoutSettings;
import io.penstock.node.text.Reason;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.WireFailure.ConnectionLostException;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import io.penstock.wire.security.Access;
import io.rsocket.exceptions.RejectedSetupException;
import java.io.IOException;
import java.util.Map;

/// Why a registry does not take a rank, in words of the settings, as the exception that has the exit code of it.
///
/// @param registry that refuses, in text
/// @param rank that it refuses
record RankRefusal(String registry, RankId rank) {
  private static final Map<String, Setting<?>> SETTINGS = Map.of("side", RankSettings.SIDE, "tp", RankSettings.TP, "pp",
      RankSettings.PP, "dp", RankSettings.DP, "pcp", RankSettings.PCP, "dcp", RankSettings.DCP, "groups[0].layers",
      LayoutSettings.LAYERS, "groups[0].tokens", LayoutSettings.BLOCK_TOKENS, "groups[0].kvHeads",
      LayoutSettings.KV_HEADS);

  /// `failure` unless it says that the registry refuses: an `IOException` where another process has the rank, a
  /// [RefusedException] where the node may not register, else an `IllegalArgumentException`.
  Exception of(Throwable failure) {
    return switch (failure) {
      case ConnectionLostException lost when lost.getCause() instanceof RejectedSetupException setup
          && Access.isRefusal(setup) ->
        new RefusedException(
            "registry %s refused the connection (%s)".formatted(registry, Reason.of(setup)), lost);
      case RankTakenException taken -> new IOException(
          "rank.number must be one that no other process has (was %d: rank %s belongs to another owner at registry %s)"
              .formatted(rank.rank(), rank, registry),
          taken);
      case RemotePermanentException remote -> of(remote);
      case Exception other -> other;
      default -> new IllegalStateException(failure);
    };
  }

  private Exception of(RemotePermanentException refusal) {
    String field = String.valueOf(refusal.field());
    if (refusal.code() == ErrorCode.FORBIDDEN.code()) {
      return new RefusedException("registry %s refused the rank: %s".formatted(registry, refusal.getMessage()),
          refusal);
    } else if (field.equals("generation") || field.equals("endpoint")) {
      String wanted = "rank.number must be one that no other process has (was %d: registry %s has %s %s of rank %s)";
      return new IOException(wanted.formatted(rank.rank(), registry, field, refusal.wanted(), rank), refusal);
    }
    Setting<?> setting = SETTINGS.get(field);
    String why = setting == null
        ? String.valueOf(refusal.getMessage())
        : "%s must be %s (was %s)".formatted(setting.key(), refusal.wanted(), refusal.actual());
    return new IllegalArgumentException(
        "rank.registry must be one that takes this rank (was %s, which says: %s)".formatted(registry, why), refusal);
  }
}
