package io.penstock.cluster.infinispan;

import java.util.List;
import javax.sql.DataSource;
import org.infinispan.configuration.global.GlobalConfigurationBuilder;
import org.infinispan.remoting.transport.jgroups.JGroupsChannelConfigurator;
import org.infinispan.remoting.transport.jgroups.JGroupsTransport;
import org.jgroups.JChannel;
import org.jgroups.conf.ProtocolConfiguration;
import org.jgroups.util.SocketFactory;

/// Gives Infinispan a channel that is made already. A transport with a channel in it would do, but a copy of the
/// configuration loses it, and then Infinispan opens a multicast one.
record ReadyChannel(JChannel channel) implements JGroupsChannelConfigurator {
  void giveTo(GlobalConfigurationBuilder global) {
    global.transport().defaultTransport().addProperty(JGroupsTransport.CHANNEL_CONFIGURATOR, this);
  }

  @Override
  public String getProtocolStackString() {
    return channel.getProperties();
  }

  @Override
  public List<ProtocolConfiguration> getProtocolStack() {
    return List.of();
  }

  @Override
  public String getName() {
    return "penstock";
  }

  @Override
  public JChannel createChannel(String name) {
    return channel;
  }

  @Override
  public void setSocketFactory(SocketFactory factory) {
    channel.getProtocolStack().getTopProtocol().setSocketFactory(factory);
  }

  @Override
  public void setDataSource(DataSource source) {
    throw new IllegalStateException("members must be found without a database");
  }
}
