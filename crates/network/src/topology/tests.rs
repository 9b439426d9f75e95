//! Paths, counts, round trips and placement of every topology.

use super::*;
use fanin_scenario::Scenario;

#[test]
fn all_shortest_paths_are_found_in_link_order() {
    let (topology, middle) = two_paths(2, Rate::from_bps(1_000_000_000), [Time::from_us(1); 2]);
    for (from, to) in [(topology.senders[1], topology.receivers[0]), (topology.receivers[0], topology.senders[1])] {
        let paths = every_path(&topology, from, to);
        let by = |path: &Vec<LinkId>| topology.end(path[1]);
        assert_eq!(paths.iter().map(by).collect::<Vec<_>>(), middle);
        for path in paths {
            assert_eq!((topology.links[path[0].index()].from, topology.end(path[3]), path.len()), (from, to, 4));
            let joined = |pair: &[LinkId]| topology.end(pair[0]) == topology.links[pair[1].index()].from;
            assert!(path.windows(2).all(joined), "{path:?}");
        }
    }
    let neighbours = every_path(&topology, topology.senders[0], topology.senders[1]);
    assert_eq!((neighbours.len(), neighbours[0].len()), (1, 2), "the edge switch joins them");
}

/// All shortest paths from one host to another, as lists of links, in link order.
fn every_path(topology: &Topology, from: NodeId, to: NodeId) -> Vec<Vec<LinkId>> {
    let paths = topology.shortest_paths(topology.rack_of(to));
    (0..paths.count(topology.rack_of(from))).map(|number| topology.path(&paths, from, to, number)).collect()
}

/// The topology for this demand, and the name of its bottleneck.
fn laid_out(text: &str, senders: usize, receivers: usize) -> (Topology, String) {
    let topology = try_lay_out(text, senders, receivers).unwrap_or_else(|error| panic!("{error}"));
    let name = topology.link_names()[topology.bottleneck.index()].clone();
    (topology, name)
}

fn try_lay_out(text: &str, senders: usize, receivers: usize) -> Result<Topology, SpecError> {
    let text = format!("[network]\n{text}\n[[traffic]]\nkind = \"background\"\n");
    let scenario = Scenario::parse(&text, "test.toml", &[])?;
    let row = REGISTRY.iter().find(|row| row.key == scenario.network.kind).expect("registered");
    (row.build)(&scenario.network.values, &Demand { senders, receivers })
}

/// Numbers of switches, hosts and cables.
fn counts(topology: &Topology) -> [usize; 3] {
    let switches = topology.nodes.iter().filter(|kind| **kind == NodeKind::Switch).count();
    assert_eq!(topology.senders.len() + topology.receivers.len(), topology.nodes.len() - switches, "a part for each");
    [switches, topology.nodes.len() - switches, topology.links.len() / 2]
}

fn sender_names(topology: &Topology, count: usize) -> Vec<String> {
    let names = topology.names();
    let of = |host: &NodeId| names[topology.end(topology.uplink(*host)).index()].clone();
    topology.senders.iter().take(count).map(of).collect()
}

fn way(topology: &Topology, from: NodeId) -> Vec<String> {
    let path = &every_path(topology, from, topology.receivers[0])[0];
    let names = topology.link_names();
    path.iter().map(|link| names[link.index()].clone()).collect()
}

#[test]
fn the_tree_is_that_of_dt_cwa() {
    let (tree, bottleneck) = laid_out("topology = \"tree\"", 9, 1);
    assert_eq!((counts(&tree), bottleneck.as_str()), ([4, 10, 13], "root->receiver-0"));
    assert_eq!(way(&tree, tree.senders[4]), ["sender-4->edge-1", "edge-1->root", "root->receiver-0"]);
    let path = &every_path(&tree, tree.senders[0], tree.receivers[0])[0];
    assert_eq!(tree.base_rtt(path), Time::from_us(150), "D11: three links of 25 us and back");
    assert_eq!(sender_names(&tree, 4), ["edge-0", "edge-1", "edge-2", "edge-0"]);
    let (packed, _) = laid_out("topology = \"tree\"\nsender-placement = \"packed\"", 9, 1);
    assert_eq!(sender_names(&packed, 4), ["edge-0", "edge-0", "edge-0", "edge-1"]);
    // D15: buffers by switch; the root and the hosts have the common one.
    let names = tree.link_names();
    let of = |name: &str| tree.links[names.iter().position(|link| link == name).expect(name)].buffer;
    assert_eq!(
        [of("edge-0->root"), of("edge-0->sender-0"), of("root->receiver-0")],
        ["edge-buffer", "edge-buffer", "buffer"]
    );
}

#[test]
fn leaves_and_spines() {
    let text = "topology = \"leaf-spine\"\nleaves = 3\nspines = 4\nhosts-per-leaf = 5\nspine-buffer = \"250pkt\"";
    let (network, bottleneck) = laid_out(text, 6, 2);
    assert_eq!((counts(&network), bottleneck.as_str()), ([7, 15, 3 * 4 + 15], "leaf-0->receiver-0"));
    assert_eq!(sender_names(&network, 5), ["leaf-1", "leaf-2", "leaf-1", "leaf-2", "leaf-1"]);
    let paths = every_path(&network, network.senders[0], network.receivers[0]);
    assert_eq!((paths.len(), paths[0].len()), (4, 4), "one over each spine");
    assert_eq!(network.base_rtt(&paths[0]), Time::from_us(200));
    let rates: Vec<u64> = paths[0].iter().map(|link| network.links[link.index()].rate.bps() / 1_000_000_000).collect();
    assert_eq!(rates, [1, 10, 10, 1]);
    let buffers: Vec<&str> = paths[0].iter().map(|link| network.links[link.index()].buffer).collect();
    assert_eq!(buffers, ["buffer", "buffer", "spine-buffer", "buffer"]);
    // The other hosts of the receivers' rack come last, and are one switch away.
    let last = network.senders[network.senders.len() - 1];
    assert_eq!(every_path(&network, last, network.receivers[0])[0].len(), 2);
    let (local, _) = laid_out(&format!("{text}\nsender-placement = \"local\""), 6, 2);
    assert_eq!(sender_names(&local, 5), ["leaf-0", "leaf-0", "leaf-0", "leaf-1", "leaf-2"]);
    let (packed, _) = laid_out(&format!("{text}\nsender-placement = \"packed\""), 6, 2);
    assert_eq!(sender_names(&packed, 6), ["leaf-1", "leaf-1", "leaf-1", "leaf-1", "leaf-1", "leaf-2"]);
    let (apart, _) = laid_out(&format!("{text}\nreceiver-placement = \"spread\""), 6, 2);
    assert_eq!(every_path(&apart, apart.receivers[1], apart.receivers[0])[0].len(), 4);
}

#[test]
fn a_clos_has_a_path_for_every_choice_of_spine_and_cable() {
    let text = "topology = \"clos\"\nspines = 3\nparallel-links = 2";
    let (network, _) = laid_out(text, 1, 1);
    assert_eq!(counts(&network), [7, 16, 4 * 3 * 2 + 16]);
    let paths = every_path(&network, network.senders[0], network.receivers[0]);
    assert_eq!(paths.len(), 3 * 2 * 2);
    // The number of paths that share no cable between switches is that of spines times parallel cables.
    let mut disjoint: Vec<&Vec<LinkId>> = Vec::new();
    for path in &paths {
        if disjoint.iter().all(|other| path[1..3].iter().all(|link| !other.contains(link))) {
            disjoint.push(path);
        }
    }
    assert_eq!(disjoint.len(), 6);
    assert_eq!(way(&network, network.senders[0])[1..3], ["leaf-1->spine-0/0", "spine-0->leaf-0/0"]);
}

#[test]
fn a_clos_of_several_pods_has_cores() {
    let text = "topology = \"clos\"\npods = 2\nspines = 2\nleaves = 2\ncores = 4\ncore-rate = \"10Gbps\"";
    let (network, _) = laid_out(text, 1, 1);
    assert_eq!(counts(&network), [2 * (2 + 2) + 4, 16, 2 * 2 * 2 + 4 * 2 + 16]);
    let far = network.senders[2];
    assert_eq!(way(&network, far)[1..5], ["leaf-3->spine-2", "spine-2->core-0", "core-0->spine-0", "spine-0->leaf-0"]);
    let paths = every_path(&network, far, network.receivers[0]);
    assert_eq!((paths.len(), network.links[paths[0][2].index()].rate.bps()), (4, 10_000_000_000));
    let error = try_lay_out(&text.replace("cores = 4", "cores = 3"), 1, 1).expect_err("three cores, two spines");
    assert_eq!(
        error.to_string(),
        "test.toml:6: network.cores: 3 cores cannot be divided evenly among the 2 spine switches of a pod"
    );
}

#[test]
fn a_custom_network_has_the_cables_that_are_listed() {
    let text = "topology = \"custom\"\ndelay = \"1us\"\ncables = \"\"\"\n3 hosts - leaf-0..1\n1 host - leaf-2 100Mbps\n\
                leaf-0..2 - spine-0..1 40Gbps 5us, leaf-0 - spine-1 7us\n\"\"\"";
    let (network, bottleneck) = laid_out(text, 4, 1);
    assert_eq!((counts(&network), bottleneck.as_str()), ([5, 7, 7 + 3 * 2 + 1], "leaf-0->receiver-0"));
    assert_eq!(sender_names(&network, 6), ["leaf-1", "leaf-2", "leaf-1", "leaf-1", "leaf-0", "leaf-0"]);
    let paths = every_path(&network, network.senders[0], network.receivers[0]);
    assert_eq!(paths.len(), 3, "one over spine-0, and two over spine-1, whose second cable is listed by itself");
    let links = |path: &Vec<LinkId>| path.iter().map(|link| network.links[link.index()]).collect::<Vec<_>>();
    let rates: Vec<u64> = links(&paths[0]).iter().map(|link| link.rate.bps() / 1_000_000).collect();
    assert_eq!(rates, [1000, 40_000, 40_000, 1000], "what has no rate of its own has that of the table");
    assert_eq!(paths.iter().map(|path| network.base_rtt(path).ps() / 2_000_000).collect::<Vec<_>>(), [12, 12, 14]);
    assert_eq!(links(&paths[2])[2].rate.bps(), 1_000_000_000);
    assert_eq!(network.links[network.uplink(network.senders[1]).index()].rate.bps(), 100_000_000);
    assert_eq!((selected(&network, "rack-1"), selected(&network, "host-6")), (vec![3, 4, 5], vec![6]));
    let (chain, _) = laid_out("topology = \"custom\"\ncables = \"1 hosts - a, b - a, b - c, 1 hosts - c\"", 1, 1);
    assert_eq!(way(&chain, chain.senders[0]), ["sender-0->c", "c->b", "b->a", "a->receiver-0"]);
}

#[test]
fn a_custom_network_that_is_none_is_refused() {
    let of = |cables: &str| {
        let text = format!("topology = \"custom\"\ncables = \"{cables}\"");
        let error = try_lay_out(&text, 1, 1).expect_err("refused").to_string();
        error.strip_prefix("test.toml:3: network.cables: ").expect("the place").to_owned()
    };
    assert_eq!(
        of("2 hosts - a, a b"),
        "\"a b\" is no cable: write \"16 hosts - leaf-0\", or \"leaf-0..3 - spine-0..1 40Gbps 2us\""
    );
    assert!(of("many hosts - a").contains("is no cable"));
    assert!(of("a b - c").contains("is no cable"));
    assert_eq!(
        of("2 hosts - a, a - b 40Gbit"),
        "\"40Gbit\" in \"a - b 40Gbit\" is neither a rate such as 40Gbps nor a delay such as 2us"
    );
    assert_eq!(of("2 hosts - a, a - a-0..1, a-0..1 - a-1"), "\"a-0..1 - a-1\" joins a switch with itself");
    assert_eq!(of("2 hosts - a, b - c"), "no cables lead from a to b");
    assert_eq!(of("host-0 - a"), "\"host-0\" in \"host-0 - a\" is a host: write how many, such as \"16 hosts\"");
    assert_eq!(
        of("2 hosts - a-3..1"),
        "\"a-3..1\" in \"2 hosts - a-3..1\" names no switch: write leaf-0, or leaf-0..3"
    );
    assert_eq!(of("a - b"), "names no hosts: write such as \"16 hosts - leaf-0\"");
    assert!(of("1 host - a").starts_with("the traffic needs 1 sending and 1 receiving"));
    assert_eq!(of("70000 hosts - a"), "names more than 65535 hosts");
    assert_eq!(
        of("2 hosts - leaf-0, leaf-0 - spine, leef-0 - spine"),
        "leef-0 has one cable and no hosts (did you mean \"leaf-0\"?)"
    );
    let many = "1 host - a, 1 host - z, a - b-0..199, b-0..199 - c-0..199, c-0..199 - z";
    assert_eq!(of(many), "gives more than 16384 paths between a and z");
}

#[test]
fn regular_fat_trees() {
    let (small, _) = laid_out("topology = \"fat-tree\"", 1, 1);
    assert_eq!(counts(&small), [20, 16, 48]);
    // P21: PFDCT's section 4.
    let (ten, bottleneck) = laid_out("topology = \"fat-tree\"\npods = 10\nhosts-per-edge = 5\ndelay = \"10us\"", 1, 1);
    assert_eq!((counts(&ten), bottleneck.as_str()), ([50 + 50 + 25, 250, 250 + 250 + 250], "edge-0->receiver-0"));
    let far = ten.senders[48];
    assert_eq!(way(&ten, far)[0], "sender-48->edge-49");
    let paths = every_path(&ten, far, ten.receivers[0]);
    assert_eq!((paths.len(), paths[0].len(), ten.base_rtt(&paths[0])), (25, 6, Time::from_us(120)));
    assert_eq!(
        every_path(&ten, ten.senders[0], ten.receivers[0]).len(),
        5,
        "within a pod, over any aggregation switch"
    );
}

#[test]
fn the_fat_tree_of_pfdct_section_5_3() {
    let text = "topology = \"fat-tree\"\npods = 4\naggregations-per-pod = 2\nedges-per-pod = 4\nhosts-per-edge = 10\n\
                cores = 8\ncore-rate = \"10Gbps\"\ncore-buffer = \"250pkt\"";
    let (network, _) = laid_out(text, 159, 1);
    assert_eq!(counts(&network), [16 + 8 + 8, 160, 160 + 4 * 4 * 2 + 8 * 4]);
    let paths = every_path(&network, network.senders[14], network.receivers[0]);
    assert_eq!((paths.len(), network.base_rtt(&paths[0])), (8, Time::from_us(300)), "25 us a link: 300 us");
    let core = network.links[paths[0][3].index()];
    assert_eq!((core.buffer, core.rate.bps()), ("core-buffer", 10_000_000_000));
    assert_eq!(network.links[paths[0][2].index()].rate.bps(), 10_000_000_000);
}

/// The hosts that a text selects, by number.
fn selected(topology: &Topology, text: &str) -> Vec<usize> {
    const KEY: Param = Param::new("from", fanin_param::Kind::Text, "all", "Hosts.", "all");
    let values = Values::defaults(&[&[KEY]]).with("from", text);
    let all = topology.hosts();
    let hosts = topology.select(&values, "from").unwrap_or_else(|error| panic!("{error}"));
    hosts.iter().map(|host| all.iter().position(|other| other == host).expect("a host")).collect()
}

#[test]
fn hosts_are_selected_by_pod_rack_number_and_part() {
    let (network, _) = laid_out("topology = \"fat-tree\"\nhosts-per-edge = 3", 1, 2);
    assert_eq!(selected(&network, "all"), (0..24).collect::<Vec<_>>());
    assert_eq!(selected(&network, "pod-1"), [6, 7, 8, 9, 10, 11]);
    assert_eq!(selected(&network, "rack-6..7"), [18, 19, 20, 21, 22, 23]);
    assert_eq!(selected(&network, "host-5, rack-1, host-0..1"), [5, 3, 4, 0, 1], "each once, in the order named");
    assert_eq!(selected(&network, "receivers"), [0, 1]);
    assert_eq!(selected(&network, "receiver-1"), [1]);
    // The first sender is in the second rack, the last ones are the other hosts of the receivers' rack.
    assert_eq!((selected(&network, "sender-0"), selected(&network, "senders").len()), (vec![3], 22));
    // The senders' switch comes first, so its rack does.
    let (two, _) = laid_out("topology = \"two-switch\"", 3, 1);
    assert_eq!((selected(&two, "rack-0"), selected(&two, "receivers")), (selected(&two, "senders"), vec![3, 4]));
    let (tree, _) = laid_out("topology = \"tree\"", 9, 1);
    assert_eq!((selected(&tree, "rack-0"), selected(&tree, "rack-3")), (vec![0], vec![7, 8, 9]));
}

#[test]
fn tiers_have_delays_of_their_own() {
    let text = "topology = \"fat-tree\"\ndelay = \"1us\"\nuplink-delay = \"10us\"\ncore-delay = \"100us\"";
    let (network, _) = laid_out(text, 1, 1);
    // From another pod over three tiers, from the next rack over two.
    let rtt = |host: NodeId| network.base_rtt(&every_path(&network, host, network.receivers[0])[0]);
    assert_eq!((rtt(network.senders[4]), rtt(network.senders[0])), (Time::from_us(2 * 222), Time::from_us(2 * 22)));
    let (leaves, _) = laid_out("topology = \"leaf-spine\"\ndelay = \"1us\"\nuplink-delay = \"3us\"", 1, 1);
    assert_eq!(leaves.base_rtt(&every_path(&leaves, leaves.senders[0], leaves.receivers[0])[0]), Time::from_us(16));
}

#[test]
fn half_of_the_thinnest_tier_is_the_bisection() {
    let of = |text: &str| laid_out(text, 1, 1).0.bisection.map(Rate::bps);
    assert_eq!(of("topology = \"fat-tree\""), Some(8_000_000_000));
    assert_eq!(of("topology = \"fat-tree\"\ncores = 2"), Some(4_000_000_000));
    assert_eq!(of("topology = \"leaf-spine\"\nhosts-per-leaf = 4"), Some(8_000_000_000), "hosts are the thinnest");
    assert_eq!(of("topology = \"leaf-spine\"\nuplink-rate = \"1Gbps\"\nhosts-per-leaf = 4"), Some(4_000_000_000));
    assert_eq!(of("topology = \"star\""), None);
}

#[test]
fn too_few_hosts_and_too_many_are_refused() {
    let of = |text: &str, senders| try_lay_out(text, senders, 1).expect_err("refused").to_string();
    assert_eq!(
        of("topology = \"tree\"", 10),
        "test.toml:1: network.hosts-per-edge: the traffic needs 10 sending and 1 receiving hosts of its own, and the \
         network has 10 in all: make it larger, or set placement = \"round-robin\" in the traffic group"
    );
    let message = of("topology = \"leaf-spine\"\nhosts-per-leaf = 1", 5);
    assert!(message.starts_with("test.toml:3: network.hosts-per-leaf: the traffic needs 5 sending"), "{message}");
    let message = of("topology = \"fat-tree\"\npods = 64\nhosts-per-edge = 4096", 1);
    assert!(message.contains("hosts-per-edge: gives 8388608 hosts"), "{message}");
    let message = of("topology = \"clos\"\nspines = 256\nparallel-links = 16\nleaves = 4", 1);
    assert!(message.contains("parallel-links: gives"), "{message}");
    let one = try_lay_out("topology = \"clos\"\nleaves = 1\nhosts-per-leaf = 2", 1, 1).expect("two hosts");
    assert_eq!(every_path(&one, one.senders[0], one.receivers[0])[0].len(), 2);
}
