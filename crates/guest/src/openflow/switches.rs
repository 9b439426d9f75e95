//! Open vSwitch: its programs are those of the host, which the guest sees in a folder.

use super::Switch;
use crate::Result;
use fanin_engine::backend::Site;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};
use nix::unistd::chroot;
use std::env::set_current_dir;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io;
use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};
use std::thread;

/// Where the guest sees the host's files.
const HOST: &str = "/host";
/// Where Open vSwitch keeps what it runs by, in the host's files.
const RUN: &str = "/run/openvswitch";
const DATABASE: &str = "unix:/run/openvswitch/db.sock";
const SCHEMA: &str = "/usr/share/openvswitch/vswitch.ovsschema";

/// Priority of the entries that send SYN, FIN and RST to the controller (section 3.5), and their cookie.
const CONNECTIONS: &str = "cookie=1,table=0,priority=40000,tcp";

/// Where Open vSwitch runs.
pub(super) struct Programs {
    namespace: File,
}

impl Programs {
    /// Starts Open vSwitch without a bridge in this network namespace, which the caller is in.
    pub(super) fn new(namespace: File) -> Result<Self> {
        mount(Some("none"), HOST, Some("hostfs"), MsFlags::MS_RDONLY, Some("/"))?;
        for (kind, at) in [("proc", "proc"), ("sysfs", "sys"), ("devtmpfs", "dev"), ("tmpfs", "run"), ("tmpfs", "tmp")]
        {
            let at = format!("{HOST}/{at}");
            mount(Some(kind), at.as_str(), Some(kind), MsFlags::empty(), None::<&str>)
                .map_err(|error| format!("mounting {at}: {error}"))?;
        }
        fs::create_dir(format!("{HOST}{RUN}"))?;
        let programs = Self { namespace };
        programs.run("ovsdb-tool", &["create", "/run/openvswitch/conf.db", SCHEMA])?;
        let remote = format!("--remote=p{DATABASE}");
        programs.run("ovsdb-server", &["/run/openvswitch/conf.db", &remote, "--detach", "--no-chdir", "--pidfile"])?;
        programs.run("ovs-vsctl", &["--no-wait", "init"])?;
        programs.run("ovs-vswitchd", &[DATABASE, "--detach", "--no-chdir", "--pidfile"])?;
        Ok(programs)
    }

    /// Runs one of its programs until it ends or has gone to the background.
    fn run(&self, program: &str, words: &[&str]) -> io::Result<()> {
        let fail = |error: io::Error| io::Error::other(format!("{program}: {error}"));
        let namespace = self.namespace.try_clone()?;
        let run = || -> io::Result<()> {
            setns(namespace, CloneFlags::CLONE_NEWNET)?;
            // A root directory of its own thread, and not of the guest.
            unshare(CloneFlags::CLONE_FS)?;
            chroot(HOST)?;
            set_current_dir("/")?;
            let errors = File::create("/run/openvswitch/errors")?;
            let mut command = Command::new(program);
            command.args(words).env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
            command.env("OVS_RUNDIR", RUN).env("OVS_LOGDIR", RUN).env("OVS_DBDIR", RUN);
            let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors).status()?;
            let said = fs::read_to_string("/run/openvswitch/errors")?;
            if status.success() { Ok(()) } else { Err(io::Error::other(format!("{status}: {}", said.trim()))) }
        };
        thread::scope(|scope| scope.spawn(run).join())
            .unwrap_or_else(|_| Err(io::Error::other("panicked")))
            .map_err(fail)
    }

    /// The socket to which a bridge connects as to its controller.
    pub(super) fn listen(bridge: &str) -> Result<UnixListener> {
        Ok(UnixListener::bind(format!("{HOST}{RUN}/{bridge}.controller"))?)
    }

    /// Adds all bridges with their ports, and what they do with packets of which no controller has heard.
    pub(super) fn add(&self, switches: &[Switch], site: &Site) -> Result<()> {
        // Without a word on its queue, Open vSwitch removes that of a port.
        let mut words = ["--id=@queue", "create", "qos", "type=linux-noop"].map(str::to_owned).to_vec();
        for switch in switches {
            let bridge = switch.bridge();
            let datapath = format!("other-config:datapath-id={:016x}", switch.node.index() + 1);
            let bridge_words = ["datapath_type=netdev", "fail_mode=secure", "protocols=OpenFlow13", &datapath];
            words.extend(["--", "add-br", &bridge, "--", "set", "bridge", &bridge].map(str::to_owned));
            words.extend(bridge_words.map(str::to_owned));
            for (port, link) in (1..).zip(&switch.ports) {
                let link = format!("link-{}", link.index());
                words.extend(["--", "add-port", &bridge, &link, "--", "set", "interface", &link].map(str::to_owned));
                words.extend([format!("ofport_request={port}"), "--".to_owned()]);
                words.extend(["set", "port", &link, "qos=@queue"].map(str::to_owned));
            }
        }
        self.run("ovs-vsctl", &words.iter().map(String::as_str).collect::<Vec<_>>())?;
        for switch in switches {
            // The first controller of a bridge empties its tables.
            let target = format!("unix:{RUN}/{}.controller", switch.bridge());
            self.run("ovs-vsctl", &["set-controller", &switch.bridge(), &target])?;
            self.forward(switch, site)?;
        }
        Ok(())
    }

    /// The second table forwards by addresses; equal paths by a hash of the connection. Until the controller has added an entry,
    /// packets come to it from the first table.
    fn forward(&self, switch: &Switch, site: &Site) -> Result<()> {
        let (mut flows, mut groups) = ("table=0,priority=0,actions=goto_table:1\n".to_owned(), String::new());
        for (number, (host, ports)) in (1..).zip(switch.routes(site)) {
            let address = crate::network::address(host.index());
            let action = if let [port] = ports[..] {
                format!("output:{port}")
            } else {
                write!(groups, "group_id={number},type=select")?;
                ports.iter().try_for_each(|port| write!(groups, ",bucket=output:{port}"))?;
                groups.push('\n');
                format!("group:{number}")
            };
            writeln!(flows, "table=1,priority=1,ip,nw_dst={address},actions={action}")?;
        }
        if !groups.is_empty() {
            self.tell(&switch.bridge(), "add-groups", &groups)?;
        }
        Ok(self.tell(&switch.bridge(), "add-flows", &flows)?)
    }

    /// Sends packets that open or end a connection to the controller. If they are not held, the controller gets copies.
    pub(super) fn send_connections(&self, bridge: &str, holds: bool) -> io::Result<()> {
        let then = if holds { "" } else { ",goto_table:1" };
        let flow = |flag: &str| format!("{CONNECTIONS},tcp_flags=+{flag},actions=controller{then}\n");
        self.tell(bridge, "add-flows", &["syn", "fin", "rst"].map(flow).concat())
    }

    /// Tells a bridge something that is in lines.
    fn tell(&self, bridge: &str, command: &str, lines: &str) -> io::Result<()> {
        fs::write(format!("{HOST}{RUN}/lines"), lines)?;
        self.run("ovs-ofctl", &["-O", "OpenFlow13", command, bridge, "/run/openvswitch/lines"])
    }
}
