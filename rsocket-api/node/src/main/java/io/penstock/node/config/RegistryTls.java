package io.penstock.node.config;

/// Whether a rank connects to its registry with TLS.
public enum RegistryTls {
  /// With TLS if the node has a certificate or authorities of its own.
  AUTO,
  /// With TLS. Without authorities of the node, those of the JDK are trusted.
  ON,
  /// With TLS, and the certificate of the registry may name another host.
  ANY_HOST,
  /// Without.
  OFF
}
