package main

import (
	"context"
	"strings"
	"unicode"

	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/schema"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge"
	shim "github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfshim"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"
)

// resources are the types that the stacks use, by their names in Terraform, with their module and
// name in pulumi-aws. Source: provider/resources.go of pulumi-aws; a test compares every name with
// the installed SDK.
var resources = map[string]string{
	"aws_autoscaling_group":                              "autoscaling:Group",
	"aws_autoscaling_lifecycle_hook":                     "autoscaling:LifecycleHook",
	"aws_autoscaling_schedule":                           "autoscaling:Schedule",
	"aws_batch_compute_environment":                      "batch:ComputeEnvironment",
	"aws_batch_job_definition":                           "batch:JobDefinition",
	"aws_batch_job_queue":                                "batch:JobQueue",
	"aws_cloudformation_stack":                           "cloudformation:Stack",
	"aws_cloudwatch_dashboard":                           "cloudwatch:Dashboard",
	"aws_cloudwatch_event_rule":                          "cloudwatch:EventRule",
	"aws_cloudwatch_event_target":                        "cloudwatch:EventTarget",
	"aws_cloudwatch_log_group":                           "cloudwatch:LogGroup",
	"aws_cloudwatch_log_metric_filter":                   "cloudwatch:LogMetricFilter",
	"aws_cloudwatch_metric_alarm":                        "cloudwatch:MetricAlarm",
	"aws_ec2_capacity_reservation":                       "ec2:CapacityReservation",
	"aws_ecr_lifecycle_policy":                           "ecr:LifecyclePolicy",
	"aws_ecr_repository":                                 "ecr:Repository",
	"aws_ecr_repository_policy":                          "ecr:RepositoryPolicy",
	"aws_eip":                                            "ec2:Eip",
	"aws_eks_access_entry":                               "eks:AccessEntry",
	"aws_eks_access_policy_association":                  "eks:AccessPolicyAssociation",
	"aws_eks_addon":                                      "eks:Addon",
	"aws_eks_cluster":                                    "eks:Cluster",
	"aws_eks_node_group":                                 "eks:NodeGroup",
	"aws_eks_pod_identity_association":                   "eks:PodIdentityAssociation",
	"aws_flow_log":                                       "ec2:FlowLog",
	"aws_fsx_data_repository_association":                "fsx:DataRepositoryAssociation",
	"aws_fsx_lustre_file_system":                         "fsx:LustreFileSystem",
	"aws_fsx_openzfs_file_system":                        "fsx:OpenZfsFileSystem",
	"aws_iam_instance_profile":                           "iam:InstanceProfile",
	"aws_iam_openid_connect_provider":                    "iam:OpenIdConnectProvider",
	"aws_iam_policy":                                     "iam:Policy",
	"aws_iam_role":                                       "iam:Role",
	"aws_iam_role_policy":                                "iam:RolePolicy",
	"aws_iam_role_policy_attachment":                     "iam:RolePolicyAttachment",
	"aws_internet_gateway":                               "ec2:InternetGateway",
	"aws_key_pair":                                       "ec2:KeyPair",
	"aws_launch_template":                                "ec2:LaunchTemplate",
	"aws_nat_gateway":                                    "ec2:NatGateway",
	"aws_placement_group":                                "ec2:PlacementGroup",
	"aws_prometheus_rule_group_namespace":                "amp:RuleGroupNamespace",
	"aws_prometheus_scraper":                             "amp:Scraper",
	"aws_ram_resource_share_accepter":                    "ram:ResourceShareAccepter",
	"aws_resourcegroups_group":                           "resourcegroups:Group",
	"aws_resourcegroups_resource":                        "resourcegroups:Resource",
	"aws_route":                                          "ec2:Route",
	"aws_route_table":                                    "ec2:RouteTable",
	"aws_route_table_association":                        "ec2:RouteTableAssociation",
	"aws_s3_bucket":                                      "s3:Bucket",
	"aws_s3_bucket_ownership_controls":                   "s3:BucketOwnershipControls",
	"aws_s3_bucket_policy":                               "s3:BucketPolicy",
	"aws_s3_bucket_public_access_block":                  "s3:BucketPublicAccessBlock",
	"aws_s3_bucket_server_side_encryption_configuration": "s3:BucketServerSideEncryptionConfiguration",
	"aws_s3_object":                                      "s3:BucketObjectv2",
	"aws_scheduler_schedule":                             "scheduler:Schedule",
	"aws_security_group":                                 "ec2:SecurityGroup",
	"aws_security_group_rule":                            "ec2:SecurityGroupRule",
	"aws_sns_topic":                                      "sns:Topic",
	"aws_sns_topic_policy":                               "sns:TopicPolicy",
	"aws_sns_topic_subscription":                         "sns:TopicSubscription",
	"aws_ssm_association":                                "ssm:Association",
	"aws_subnet":                                         "ec2:Subnet",
	"aws_vpc":                                            "ec2:Vpc",
	"aws_vpc_endpoint":                                   "ec2:VpcEndpoint",
	"aws_vpc_ipv4_cidr_block_association":                "ec2:VpcIpv4CidrBlockAssociation",
	"aws_vpc_security_group_egress_rule":                 "vpc:SecurityGroupEgressRule",
	"aws_vpc_security_group_ingress_rule":                "vpc:SecurityGroupIngressRule",
}

// dataSources are the functions that the stacks and the EKS component call.
var dataSources = map[string]string{
	"aws_caller_identity":      "index:getCallerIdentity",
	"aws_cloudformation_stack": "cloudformation:getStack",
	"aws_partition":            "index:getPartition",
	"aws_region":               "index:getRegion",
	"aws_ssm_parameter":        "ssm:getParameter",
	"aws_subnet":               "ec2:getSubnet",
	"aws_subnets":              "ec2:getSubnets",
	"aws_vpc":                  "ec2:getVpc",
}

type fields = map[string]*tfbridge.SchemaInfo

// exceptions are the types for which pulumi-aws departs from the bridge's own rules, and how.
func exceptions() map[string]*tfbridge.ResourceInfo {
	document := func() *tfbridge.SchemaInfo {
		return &tfbridge.SchemaInfo{Type: "string", Transform: tfbridge.TransformJSONDocument}
	}
	lowercaseName := func(name string, maximum int) *tfbridge.SchemaInfo {
		return tfbridge.AutoNameTransform(name, maximum, strings.ToLower)
	}
	nodeGroupName := fields{"node_group_name": tfbridge.AutoName("nodeGroupName", 255, "-")}
	return map[string]*tfbridge.ResourceInfo{
		"aws_autoscaling_group":     {Fields: fields{"tag": {Name: "tags"}}},
		"aws_cloudwatch_event_rule": {Fields: fields{"name": tfbridge.AutoName("name", 64, "-")}},
		"aws_cloudwatch_event_target": {Fields: fields{
			"target_id": tfbridge.AutoName("targetId", 255, "-"),
		}},
		"aws_cloudwatch_log_group": {IDFields: []string{"name"}},
		"aws_cloudwatch_metric_alarm": {Fields: fields{
			"alarm_name": tfbridge.AutoName("name", 255, "-"),
		}},
		"aws_ecr_lifecycle_policy":  {DeleteBeforeReplace: true, Fields: fields{"policy": document()}},
		"aws_ecr_repository_policy": {Fields: fields{"policy": document()}},
		"aws_eks_cluster": {Fields: fields{
			"certificate_authority": {Name: "certificateAuthority", MaxItemsOne: tfbridge.True()},
		}},
		"aws_eks_node_group":             {Fields: nodeGroupName},
		"aws_fsx_openzfs_file_system":    {Fields: fields{"subnet_ids": {MaxItemsOne: tfbridge.False()}}},
		"aws_iam_policy":                 {Fields: fields{"policy": document()}},
		"aws_iam_role_policy":            {Fields: fields{"policy": document()}},
		"aws_iam_role_policy_attachment": {DeleteBeforeReplace: true},
		"aws_iam_role": {Fields: fields{
			"name":               tfbridge.AutoName("name", 64, "-"),
			"assume_role_policy": document(),
		}},
		"aws_key_pair":         {Fields: fields{"key_name": tfbridge.AutoName("keyName", 255, "-")}},
		"aws_s3_bucket":        {Fields: fields{"bucket": lowercaseName("bucket", 63)}},
		"aws_s3_bucket_policy": {Fields: fields{"policy": document()}},
		"aws_s3_object": {Fields: fields{
			"key":    tfbridge.AutoName("key", 255, "-"),
			"source": {Asset: &tfbridge.AssetTranslation{Kind: tfbridge.FileAsset}},
		}},
		"aws_security_group": {Fields: fields{
			"description": {Default: &tfbridge.DefaultInfo{Value: "Managed by Pulumi"}},
			"ingress":     {Name: "ingress"},
			"egress":      {Name: "egress"},
		}},
		"aws_security_group_rule":    {DeleteBeforeReplace: true},
		"aws_sns_topic_subscription": {Fields: fields{"topic_arn": {Name: "topic"}}},
	}
}

// addMapping puts types and functions under their names in pulumi-aws, with what pulumi-aws adds to
// every one of them: an automatic name, the region and all tags.
func addMapping(info *tfbridge.ProviderInfo, sdk *schema.Provider) {
	info.Resources = map[string]*tfbridge.ResourceInfo{}
	info.DataSources = map[string]*tfbridge.DataSourceInfo{}
	special := exceptions()
	for name, token := range resources {
		known := special[name]
		if known == nil {
			known = &tfbridge.ResourceInfo{}
		}
		known.Tok = tokens.Type(fullToken(token))
		_, isSDKv2 := sdk.ResourcesMap[name]
		complete(known, info.P.ResourcesMap().Get(name).Schema(), isSDKv2)
		info.Resources[name] = known
	}
	for name, token := range dataSources {
		member := tokens.ModuleMember(fullToken(token))
		info.DataSources[name] = &tfbridge.DataSourceInfo{Tok: member}
	}
}

func complete(known *tfbridge.ResourceInfo, schema shim.SchemaMap, isSDKv2 bool) {
	if region, ok := schema.GetOk("region"); ok && region.Deprecated() == "" {
		known.PreCheckCallback = withRegion(known.PreCheckCallback)
	}
	_, hasAll := schema.GetOk("tags_all")
	tags, hasTags := schema.GetOk("tags")
	if isSDKv2 && hasAll && hasTags && (!tags.Computed() || tags.Optional()) {
		known.PreCheckCallback = withAllTags(known.PreCheckCallback)
	}
	name, hasName := schema.GetOk("name")
	if _, isSet := known.Fields["name"]; !isSet && hasName && (name.Optional() || name.Required()) {
		if known.Fields == nil {
			known.Fields = fields{}
		}
		known.Fields["name"] = tfbridge.AutoName("name", 255, "-")
	}
}

// fullToken turns ec2:Vpc into aws:ec2/vpc:Vpc.
func fullToken(token string) string {
	module, name, _ := strings.Cut(token, ":")
	return "aws:" + module + "/" + string(unicode.ToLower(rune(name[0]))) + name[1:] + ":" + name
}

type preCheck = func(
	ctx context.Context, config, meta resource.PropertyMap,
) (resource.PropertyMap, error)

// withRegion fills in the provider's region where the program names none.
func withRegion(next preCheck) preCheck {
	return filledIn(next, func(filled, meta resource.PropertyMap) {
		region, ok := meta["region"]
		if given, isGiven := filled["region"]; ok && !region.IsNull() && (!isGiven || given.IsNull()) {
			filled["region"] = region
		}
	})
}

// withAllTags fills in tagsAll: the provider's default tags, and over them the resource's own.
func withAllTags(next preCheck) preCheck {
	return filledIn(next, func(filled, meta resource.PropertyMap) {
		filled["tagsAll"] = allTags(filled["tags"], meta)
	})
}

func filledIn(next preCheck, fill func(filled, meta resource.PropertyMap)) preCheck {
	return func(
		ctx context.Context, config, meta resource.PropertyMap,
	) (resource.PropertyMap, error) {
		filled := config.Copy()
		fill(filled, meta)
		if next == nil {
			return filled, nil
		}
		return next(ctx, filled, meta)
	}
}

func allTags(own resource.PropertyValue, meta resource.PropertyMap) resource.PropertyValue {
	if own.ContainsUnknowns() || resource.NewObjectProperty(meta).ContainsUnknowns() {
		return resource.NewOutputProperty(resource.Output{Known: false})
	}
	all := resource.PropertyMap{}
	if defaults, ok := meta["defaultTags"]; ok && defaults.IsObject() {
		addTags(all, defaults.ObjectValue()["tags"])
	}
	addTags(all, own)
	return resource.NewObjectProperty(all)
}

func addTags(to resource.PropertyMap, tags resource.PropertyValue) {
	if tags.IsObject() {
		for key, value := range tags.ObjectValue() {
			to[key] = value
		}
	}
}
