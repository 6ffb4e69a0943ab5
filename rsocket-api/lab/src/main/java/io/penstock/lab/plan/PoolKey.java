package io.penstock.lab.plan;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The name that engines with a shared pool of KV cache give to a block, or to one layer of it, as text:
///
/// - a block: `MODEL@pcp0@dcp0@head_or_tp_rank:0@pp_rank:0@group:0@cache_role:kv@cache_family:default@HASH`
/// - a layer: the same without `pp_rank`, and with `@layer_id:0` before the hash. The layer is counted over the whole
///   model, not over a pipeline stage: so no two stages share a name
///
/// @param model last element of the path of the model
/// @param pcp rank in prefill context parallelism
/// @param dcp rank in decode context parallelism
/// @param rank rank of the KV heads, or of tensor parallelism
/// @param stage pipeline stage; [#NONE] in the name of a layer
/// @param group number of the KV group
/// @param family `default`, or `cN` for a cache that keeps one row for N tokens
/// @param layer layer of the model; [#NONE] in the name of a block
/// @param hash of the prefix that ends with the block: of the last one, if the block covers several hashes
public record PoolKey(String model, int pcp, int dcp, int rank, int stage, int group, Role role, String family,
    int layer, String hash) {
  /// No stage, or no layer.
  public static final int NONE = -1;

  private static final Pattern TEXT = Pattern.compile("(.+)@pcp(\\d+)@dcp(\\d+)@head_or_tp_rank:(\\d+)"
      + "(?:@pp_rank:(\\d+))?@group:(\\d+)@cache_role:(kv|state)@cache_family:([^@]+)(?:@layer_id:(\\d+))?@([^@]+)");

  /// Content that a group caches.
  public enum Role {
    /// Keys and values, or latents.
    KV,
    /// The state of a recurrent layer.
    STATE;

    private String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  public PoolKey {
    requireText("model", model);
    Checks.notNegative("pcp", pcp);
    Checks.notNegative("dcp", dcp);
    Checks.notNegative("rank", rank);
    Checks.notNegative("group", group);
    requireNonNull(role, "role");
    requireText("family", family);
    requireText("hash", hash);
    if (stage < NONE || layer < NONE || (stage == NONE) == (layer == NONE)) {
      throw new IllegalArgumentException(
          "key must have a stage or a layer (was stage %d, layer %d)".formatted(stage, layer));
    }
    if (family.indexOf('@') >= 0 || hash.indexOf('@') >= 0) {
      throw new IllegalArgumentException("family and hash must be without @ (was %s, %s)".formatted(family, hash));
    }
  }

  private static void requireText(String name, String text) {
    if (text.isEmpty()) {
      throw new IllegalArgumentException(name + " must not be empty (was empty)");
    }
  }

  /// The key of a whole block.
  public static PoolKey ofBlock(String model, int pcp, int dcp, int rank, int stage, int group, Role role,
      String family, String hash) {
    return new PoolKey(model, pcp, dcp, rank, stage, group, role, family, NONE, hash);
  }

  /// The last element of a path, which names the model.
  public static String modelOf(String path) {
    String trimmed = path.replaceAll("/+$", "");
    return trimmed.substring(trimmed.lastIndexOf('/') + 1);
  }

  /// Reads what [#toString] writes.
  ///
  /// @throws IllegalArgumentException if `text` is not of this form
  public static PoolKey parse(String text) {
    Matcher field = TEXT.matcher(text);
    if (!field.matches()) {
      throw new IllegalArgumentException(
          "text must be MODEL@pcpN@dcpN@head_or_tp_rank:N[@pp_rank:N]@group:N@cache_role:"
              + "ROLE@cache_family:FAMILY[@layer_id:N]@HASH (was " + text + ")");
    }
    return new PoolKey(field.group(1), number(field, 2), number(field, 3), number(field, 4), number(field, 5),
        number(field, 6), Role.valueOf(field.group(7).toUpperCase(Locale.ROOT)), field.group(8), number(field, 9),
        field.group(10));
  }

  private static int number(Matcher field, int group) {
    return field.group(group) == null ? NONE : Integer.parseInt(field.group(group));
  }

  /// The key of one layer of this block.
  ///
  /// @param layer counted over the whole model
  public PoolKey ofLayer(int layer) {
    return new PoolKey(model, pcp, dcp, rank, NONE, group, role, family, Checks.notNegative("layer", layer), hash);
  }

  public PoolKey withRank(int rank) {
    return new PoolKey(model, pcp, dcp, rank, stage, group, role, family, layer, hash);
  }

  /// The block of another pipeline stage. A consumer with fewer stages writes back under the keys of each.
  public PoolKey withStage(int stage) {
    return new PoolKey(model, pcp, dcp, rank, stage, group, role, family, layer, hash);
  }

  @Override
  public String toString() {
    return model + "@pcp" + pcp + "@dcp" + dcp + "@head_or_tp_rank:" + rank + (stage == NONE ? "" : "@pp_rank:" + stage)
        + "@group:" + group + "@cache_role:" + role.text() + "@cache_family:" + family
        + (layer == NONE ? "" : "@layer_id:" + layer) + "@" + hash;
  }
}
