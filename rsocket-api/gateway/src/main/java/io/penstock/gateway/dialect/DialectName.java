package io.penstock.gateway.dialect;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/// The dialects by the names that `--dialect` takes.
public enum DialectName {
  /// One instance does both.
  SINGLE,
  /// Prefill first; decode reads what its answer names (vLLM, `NixlConnector`).
  NIXL_PULL,
  /// Both at once, paired by a transfer id; the prefill's engine id comes from its bootstrap server (vLLM,
  /// `MooncakeConnector`).
  MOONCAKE,
  /// Both at once, paired by a transfer id; decode gets the coordinates of prefill (vLLM, `NixlPushConnector`).
  NIXL_PUSH,
  /// Decode first; it asks the gateway's metaserver for its prefill (vllm-ascend, `MooncakeLayerwiseConnector`).
  LAYERWISE,
  /// Both at once, paired by a bootstrap room (SGLang).
  SGLANG;

  /// The name in settings, for example `nixl-pull`.
  public String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /// Whether a prefill instance takes part.
  public boolean hasPrefill() {
    return this != SINGLE;
  }

  /// The dialect of a name in settings.
  public static DialectName of(String word) {
    return Arrays.stream(values()).filter(name -> name.word().equals(word)).findFirst()
        .orElseThrow(() -> new IllegalArgumentException("dialect must be one of " + words() + " (was " + word + ")"));
  }

  private static String words() {
    return Arrays.stream(values()).map(DialectName::word).collect(Collectors.joining(", "));
  }
}
