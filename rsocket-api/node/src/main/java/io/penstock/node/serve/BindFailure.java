package io.penstock.node.serve;

import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeConfig.Effective;
import io.penstock.node.setting.Setting;
import io.penstock.node.text.Reason;
import java.io.IOException;
import java.util.Locale;
import reactor.netty.ChannelBindException;

/// Says which setting keeps a node from listening, and why.
final class BindFailure {
  private BindFailure() {}

  /// A taken or forbidden port is the port's fault, anything else the host's.
  static IOException of(NodeConfig config, Setting<?> host, Setting<?> port, ChannelBindException failure) {
    return of(config, host, port, 1, failure);
  }

  /// Failure to bind a port of a range.
  ///
  /// @param tried number of ports that were tried
  static IOException of(NodeConfig config, Setting<?> host, Setting<?> port, int tried, ChannelBindException failure) {
    boolean isPort = isPort(failure);
    Effective said = config.effective(isPort ? port : host);
    String rule = isPort
        ? (tried > 1 ? "a range with a port that is free" : "free") + " for this user at "
            + config.effective(host).text()
        : "an address of this machine";
    String hint = isPort ? "; " + said.setting().flag() + " 0 takes any that is free" : "";
    String all = isPort && tried > 1 ? "all " + tried + " tried, the last: " : "";
    return new IOException("%s must be %s (was %s, from %s): %s%s%s".formatted(said.setting().key(), rule, said.text(),
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
