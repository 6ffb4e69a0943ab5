package io.penstock.gateway.instance;

/// What an instance does.
public enum InstanceRole {
  /// Computes prompts.
  PREFILL,
  /// Generates from keys and values that it receives.
  DECODE,
  /// Does both.
  BOTH
}
