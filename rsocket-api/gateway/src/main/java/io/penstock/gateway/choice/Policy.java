package io.penstock.gateway.choice;

/// How an instance is chosen.
public enum Policy {
  /// One after the other.
  ROUND_ROBIN,
  /// By chance.
  RANDOM,
  /// The least of the load that the proxy of `vllm-ascend` counts: for a prefill `0.3 × score` of the requests whose
  /// KV cache it holds, with `score = bytes / 4 × 0.0345 + 120.0745`; for a decode the bytes of its requests.
  LOAD,
  /// The least tokens to compute: those of the prompt that the instance lacks, and a part of those that wait there.
  PREFIX;

  /// All names, for a help text.
  public static final String NAMES = "round_robin, random, load or prefix";
}
