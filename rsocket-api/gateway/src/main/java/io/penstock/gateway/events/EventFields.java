package io.penstock.gateway.events;

import io.penstock.gateway.choice.Medium;
import io.penstock.gateway.choice.PromptBlocks;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Fields of one event, in whatever order they come.
final class EventFields {
  /// Fields of `BlockStored` where an event is an array, in this order.
  static final List<String> STORED = List.of("block_hashes", "parent_block_hash", "token_ids", "block_size", "lora_id",
      "medium", "lora_name", "extra_keys", "group_idx", "kv_cache_spec_kind", "kv_cache_spec_sliding_window",
      "locality");
  /// Fields of `BlockRemoved` where an event is an array, in this order.
  static final List<String> REMOVED = List.of("block_hashes", "medium", "group_idx", "locality");

  private static final int[] NO_TOKENS = {};

  @Nullable String type;
  long @Nullable [] hashes;
  @Nullable Long parent;
  int[] tokens = NO_TOKENS;
  int blockTokens;
  @Nullable Long adapterNumber;
  @Nullable String adapter;
  @Nullable String medium;
  @Nullable String locality;
  @Nullable String salt;
  @Nullable String kind;
  @Nullable Long window;
  @Nullable Integer group;
  /// Texts of each block; null for none.
  @Nullable List<List<String>> extras;

  EngineEvent event() throws BadEventException {
    return switch (type) {
      case null -> throw new BadEventException("event must have a type (has none)");
      case "BlockStored" -> new EngineEvent.Stored(requireHashes(), parent, tokens, blockTokens, place(), group(),
          PromptBlocks.root(adapterName(), salt), joinedExtras());
      case "BlockRemoved" -> new EngineEvent.Removed(requireHashes(), place(), group());
      case "AllBlocksCleared" -> new EngineEvent.Cleared();
      default -> new EngineEvent.Unknown();
    };
  }

  private long[] requireHashes() throws BadEventException {
    if (hashes == null) {
      throw new BadEventException("event must have block_hashes (has none)");
    }
    return hashes;
  }

  private @Nullable String adapterName() {
    return adapter != null || adapterNumber == null ? adapter : adapterNumber.toString();
  }

  private EngineEvent.Group group() {
    String spec = kind == null ? "" : kind.toLowerCase(Locale.ROOT);
    return new EngineEvent.Group(group, window != null || spec.contains("sliding") || spec.contains("chunked")
        || spec.contains("mamba") || spec.contains("cross"));
  }

  /// The words of vLLM, of SGLang and of Dynamo. An event without a medium is of a release that knew one alone.
  private @Nullable Medium place() {
    Medium place = switch (medium == null ? "GPU" : medium.toUpperCase(Locale.ROOT)) {
      case "GPU", "NPU", "DEVICE" -> Medium.DEVICE;
      case "CPU", "CPU_PINNED", "CPU_TIER1", "CPU_TIER2", "HOST" -> Medium.HOST;
      case "STORAGE", "DISK", "EXTERNAL" -> Medium.STORAGE;
      default -> null;
    };
    return place == Medium.HOST && "REMOTE".equalsIgnoreCase(locality) ? Medium.STORAGE : place;
  }

  /// The adapter and the salt are in the root already, and engines repeat them here.
  private @Nullable String @Nullable [] joinedExtras() {
    if (extras == null) {
      return null;
    }
    @Nullable String[] joined = new @Nullable String[extras.size()];
    for (int i = 0; i < joined.length; i++) {
      List<String> texts = extras.get(i).stream().filter(text -> !text.equals(adapterName()) && !text.equals(salt))
          .toList();
      joined[i] = texts.isEmpty() ? null : String.join("\n", texts);
    }
    return joined;
  }
}
