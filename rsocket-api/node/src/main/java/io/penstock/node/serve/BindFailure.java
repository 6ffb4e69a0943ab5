package io.penstock.node.serve;

import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeConfig.Effective;
import io.penstock.node.setting.Setting;
import io.penstock.node.text.Reason;
import java.io.IOException;
import java.util.Locale;
import reactor.netty.ChannelBindException;

/// Says which setting keeps a node, or what stands before nodes, from listening, and why.
public final class BindFailure {
  private BindFailure() {}

  /// A setting that says where to listen.
  ///
  /// @param value as it was given
  /// @param origin where it was given
  public record Said(String key, String flag, String value, String origin) {
    private static Said of(Effective effective) {
      return new Said(effective.setting().key(), effective.setting().flag(), effective.text(),
          effective.origin().toString());
    }
  }

  /// A taken or forbidden port is the port's fault, anything else the host's.
  ///
  /// @return a message of one line, which also says how another port is chosen
  public static IOException of(Said host, Said port, ChannelBindException failure) {
    return of(host, port, 1, failure);
  }

  /// A taken or forbidden port is the port's fault, anything else the host's.
  static IOException of(NodeConfig config, Setting<?> host, Setting<?> port, ChannelBindException failure) {
    return of(config, host, port, 1, failure);
  }

  /// Failure to bind a port of a range.
  ///
  /// @param tried number of ports that were tried
  static IOException of(NodeConfig config, Setting<?> host, Setting<?> port, int tried, ChannelBindException failure) {
    return of(Said.of(config.effective(host)), Said.of(config.effective(port)), tried, failure);
  }

  private static IOException of(Said host, Said port, int tried, ChannelBindException failure) {
    boolean isPort = isPort(failure);
    Said said = isPort ? port : host;
    String rule = isPort
        ? (tried > 1 ? "a range with a port that is free" : "free") + " for this user at " + host.value()
        : "an address of this machine";
    String hint = isPort ? "; " + said.flag() + " 0 takes any that is free" : "";
    String all = isPort && tried > 1 ? "all " + tried + " tried, the last: " : "";
    return new IOException("%s must be %s (was %s, from %s): %s%s%s".formatted(said.key(), rule, said.value(),
        said.origin(), all, Reason.ofCause(failure), hint), failure);
  }

  /// True if another port may be free.
  static boolean isPort(ChannelBindException failure) {
    String plain = Reason.ofCause(failure).toLowerCase(Locale.ROOT);
    return plain.contains("in use") || plain.contains("permission");
  }

  /// Reason that keeps a node from listening at the path of `setting`.
  static IOException at(NodeConfig config, Setting<?> setting, IOException failure) {
    Effective said = config.effective(setting);
    return new IOException(Reason.after("%s must be a path where this user can listen (was %s, from %s)"
        .formatted(setting.key(), said.text(), said.origin()), failure), failure);
  }

  /// Runs `bind`, and names the path of `setting` in its failure.
  static <T> T naming(NodeConfig config, Setting<?> setting, Bind<T> bind) throws IOException {
    try {
      return bind.call();
    } catch (IOException e) {
      throw at(config, setting, e);
    }
  }

  /// An operation that may fail to listen.
  interface Bind<T> {
    T call() throws IOException;
  }
}
