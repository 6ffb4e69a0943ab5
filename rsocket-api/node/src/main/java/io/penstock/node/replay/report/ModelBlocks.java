package io.penstock.node.replay.report;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.penstock.node.party.TierFill;
import io.penstock.node.shape.ModelSize;
import java.util.LinkedHashMap;
import java.util.Map;

/// Blocks of a replay in bytes of the model, as they are written in JSON.
///
/// @param name of the model
/// @param blockTokens tokens of a block
/// @param bytesPerToken bytes of a token in all layers
/// @param blockBytes bytes of a block
/// @param scale bytes of a block for each byte of its payload
/// @param capacityBytesByTier for each tier that has a bound, the bytes of the model that it may keep
/// @param bytesByTier for each tier, the bytes of the model that it keeps at the end
/// @param blockBytesByTier for each tier of a KV group, the bytes of its blocks; absent for a model without groups
public record ModelBlocks(String name, int blockTokens, double bytesPerToken, long blockBytes, double scale,
    Map<String, Long> capacityBytesByTier, Map<String, Long> bytesByTier,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) Map<String, Long> blockBytesByTier) {
  public ModelBlocks {
    requireNonNull(name, "name");
  }

  /// @param payload what moves for a block
  /// @param fill of each tier, fastest first
  public static ModelBlocks of(ModelSize size, ModelPayload payload, Map<String, TierFill> fill) {
    Map<String, Long> tierBlockBytes = payload.modelBytesByTier();
    Map<String, Long> capacities = new LinkedHashMap<>();
    Map<String, Long> kept = new LinkedHashMap<>();
    fill.forEach((tier, of) -> {
      ModelSize own = size.withBlockBytes(tierBlockBytes.getOrDefault(tier, size.blockBytes()));
      Long blocks = of.capacityBlocks();
      if (blocks != null) {
        capacities.put(tier, own.bytes(blocks));
      }
      kept.put(tier, own.bytes(of.blocks()));
    });
    return new ModelBlocks(size.model(), size.blockTokens(), size.bytesPerToken(), size.blockBytes(),
        (double) size.blockBytes() / payload.bytes(), capacities, kept, tierBlockBytes);
  }

  /// The size of blocks, for figures that are not in the JSON.
  ///
  /// @param prefillRate tokens a second
  ModelSize size(double prefillRate) {
    return new ModelSize(name, blockTokens, blockBytes, prefillRate);
  }

  /// `size` with the bytes of a block on `tier`.
  ModelSize of(ModelSize size, String tier) {
    return size.withBlockBytes(blockBytesByTier.getOrDefault(tier, blockBytes));
  }
}
