package io.penstock.node.serve;

import io.penstock.node.cli.Reason;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeConfig.Effective;
import io.penstock.node.config.Setting;
import java.io.IOException;
import java.util.Locale;
import reactor.netty.ChannelBindException;

/// Says which setting keeps a node from listening, and why.
final class BindFailure {
  private BindFailure() {}

  /// A taken or forbidden port is the port's fault, anything else the host's.
  static IOException of(NodeConfig config, Setting<?> host, Setting<?> port, ChannelBindException failure) {
    String reason = Reason.ofCause(failure);
    String plain = reason.toLowerCase(Locale.ROOT);
    boolean isPort = plain.contains("in use") || plain.contains("permission");
    Effective said = config.effective(isPort ? port : host);
    String rule = isPort ? "free for this user at " + config.effective(host).text() : "an address of this machine";
    String hint = isPort ? "; " + said.setting().flag() + " 0 takes any that is free" : "";
    return new IOException("%s must be %s (was %s, from %s): %s%s".formatted(said.setting().key(), rule, said.text(),
        said.origin(), reason, hint), failure);
  }

  /// Has what keeps `bind` from listening at the path of `setting` name it.
  static <T> T naming(NodeConfig config, Setting<?> setting, Bind<T> bind) throws IOException {
    try {
      return bind.call();
    } catch (IOException e) {
      Effective said = config.effective(setting);
      throw new IOException(Reason
          .after("%s must be a path where this user can listen (was %s, from %s)".formatted(setting.key(), said.text(),
              said.origin()), e),
          e);
    }
  }

  /// What may fail to listen.
  interface Bind<T> {
    T call() throws IOException;
  }
}
